// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The language of the message that the cloud sends.
struct LocaleOption: ParsableArguments {
    @Option(help: ArgumentHelp("The language of the message, such as en or en-us.", valueName: "locale"))
    var locale: String?
}
