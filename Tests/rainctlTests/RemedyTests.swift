// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import RainCore

@testable import rainctl

/// What mends an error is said in rainctl's words, and rainctl has them.
@Suite("Remedies")
struct RemedyTests {
    /// With the commands that their errors end.
    static let all: [(Remedy, [String])] = [
        (.proofOfPossession, ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.securityUserName, ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.anySecurity, ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.acceptedSecurity(version: 0), ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.otherTransport, ["provision", "device claim"]), (.accessPoint, ["provision", "device send"]),
        (.networkName, ["provision"]),
        (.claimService, ["profile add"]), (.withoutMapping, ["provision"]), (.moreTime, ["provision", "device claim"]),
        (.waiting, ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.signIn, []), (.signInPage, ["login"]), (.pastedAddress, ["login"]), (.otherCallbackPort, ["login"]),
        (.baseURL, ["login"]), (.clientID, ["login"]), (.clientSecret, ["login"]),
        (.parameter(name: "issuer"), ["login"]), (.knownAccount, []), (.knownDeployment, []), (.removedDeployment, []),
        (.knownProvider, []),
        (.fileStore, ["login"]), (.exportedSession, []),
    ]

    @Test("name options that the commands have, and commands that there are", arguments: all)
    func exist(remedy: Remedy, commands: [String]) throws {
        let words = remedy.instruction.split(separator: " ")
        let options = words.filter { $0.hasPrefix("--") }
        for command in commands {
            for option in options {
                let help = try Self.help(command)
                #expect(["  \(option) ", "  \(option), "].contains { help.contains($0) }, "\(command): \(option)")
            }
        }
        if let place = words.firstIndex(of: "rainctl") {
            let command = words[(place + 1)...].prefix { !$0.hasPrefix("--") }.joined(separator: " ")
            #expect(try Self.help(command).contains("USAGE: rainctl \(command)"))
        }
        #expect(!options.isEmpty || words.contains("rainctl"))
    }

    @Test("are a sentence of their own, with all that there are")
    func sentence() {
        #expect("No.".withAdvice([]) == "No.")
        #expect("No.".withAdvice([.signInPage]) == "No. Sign in with --browser.")
        #expect(
            "No.".withAdvice([.networkName, .moreTime])
                == "No. Name the network with rainctl provision --ssid, or give it longer with --timeout.")
    }

    private static func help(_ command: String) throws -> String {
        let name = "rainctl-" + command.split(separator: " ").joined(separator: "-")
        return try readFile(Repository.path("Tests/rainctlTests/Snapshots/\(name).txt"))
    }
}
