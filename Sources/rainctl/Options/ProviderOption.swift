// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The identity provider whose session a command uses.
struct ProviderOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The identity provider, if not RainMaker (see: rainctl account providers).", valueName: "name"))
    var provider: String?
}
