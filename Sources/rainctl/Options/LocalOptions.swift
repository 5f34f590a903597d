// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Whether a board is asked itself, over this machine's network, in place of the cloud.
struct LocalOptions: ParsableArguments {
    @Flag(help: "Ask the board itself, over this machine's network: also without the internet.")
    var local = false

    @Option(
        help: ArgumentHelp("Where the board is, if it is not found by its name (--local).", valueName: "host[:port]"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Read the proof of possession from a file (--local); the cloud is asked for it unless given.",
            valueName: "file"), completion: .file())
    var popFile: String?

    @Option(
        name: .customLong("sec-ver"),
        help: ArgumentHelp("Insist on this security scheme: 0, 1 or 2 (--local).", valueName: "version"))
    var securityVersion: Int?

    @Option(help: ArgumentHelp("The user name of Security 2 (--local).", valueName: "name"))
    var username: String?

    func validate() throws {
        guard local || host == nil && popFile == nil && securityVersion == nil && username == nil else {
            throw ValidationError("--host, --pop-file, --sec-ver and --username go with --local.")
        }
        if let securityVersion, !(0...2).contains(securityVersion) { throw ValidationError("--sec-ver is 0, 1 or 2.") }
    }
}
