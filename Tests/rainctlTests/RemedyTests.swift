// SPDX-License-Identifier: Apache-2.0
import RainCore
import TestSupport
import Testing

@testable import rainctl

/// Remedies name options and commands, and rainctl has these.
@Suite("Remedies")
struct RemedyTests {
    /// Each with the commands that can fail with its error.
    static let all: [(Remedy, [String])] = [
        (.proofOfPossession, ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.securityUserName, ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.anySecurity, ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.acceptedSecurity(version: 0), ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.otherTransport, ["provision", "device claim"]), (.accessPoint, ["provision", "device send"]),
        (.networkName, ["provision"]), (.networkPassword, ["provision"]), (.openNetwork, ["provision"]),
        (.espressifTools, ["device claim"]), (.macAddress, ["device claim"]), (.flashAddress, ["device claim"]),
        (.claimOverCable, []), (.boardLog, []),
        (.claimService, ["profile set"]), (.withoutMapping, ["provision"]), (.moreTime, ["provision", "device claim"]),
        (.waiting, ["provision", "device info", "device scan", "device reset", "device claim"]),
        (.storedSession, []), (.cloudAnswer, []), (.deploymentSettings, []),
        (.certificateAuthorities, ["doctor", "whoami", "login"]),
        (.signIn, []), (.signInPage, ["login"]), (.pastedAddress, ["login"]), (.otherCallbackPort, ["login"]),
        (.baseURL, ["login"]), (.clientID, ["login"]), (.clientSecret, ["login"]),
        (.parameter(name: "issuer"), ["login"]), (.secretParameter(name: "signSecret"), ["login"]), (.knownAccount, []),
        (.accountName, ["login"]), (.knownDeployment, []),
        (.removedDeployment, []),
        (.knownProvider, []),
        (.signInMode(provider: "liferay", modes: ["oauth2Redirect", "oauth2UsernameAndPassword"]), ["login"]),
        (.forgottenPending, ["provision"]),
        (.gateCredentials, ["login"]), (.applicationID, ["login"]), (.redirectURI, ["login"]),
        (.rememberedSettings(["loginBy"]), ["login"]), (.rememberedSettings([]), ["login"]),
        (.fileStore, ["login"]), (.exportedSession, []),
        (.brokerCredentials, ["bridge"]), (.brokerAuthorities, ["bridge"]), (.brokerClientCertificate, ["bridge"]),
        (.scheduleTime, ["node schedule add", "node schedule edit"]),
        (.scheduleDays, ["node schedule add", "node schedule edit"]), (.laterSchedule, []), (.knownAutomation, []),
        (.modelNode, ["node schedule edit", "node scene edit"]),
        (.repairedCopies, ["node schedule edit", "node scene edit"]),
        (.valuesOfNode, ["node schedule edit", "node scene edit"]),
        (.knownCommand, []), (.sharedGroups, []), (.otherParent, ["group edit"]),
    ]

    @Test("name options that the commands have, and commands that exist", arguments: all)
    func exist(remedy: Remedy, commands: [String]) throws {
        let words = remedy.option.split(separator: " ")
        let options = words.filter { $0.hasPrefix("--") }
        for command in commands {
            let help = try Self.help(command)
            for option in options {
                #expect(["  \(option) ", "  \(option), "].contains { help.contains($0) }, "\(command): \(option)")
            }
        }
        if let place = words.firstIndex(of: "rainctl") {
            let command = words[(place + 1)...].prefix { !$0.hasPrefix("--") }.joined(separator: " ")
            #expect(try Self.help(command).contains("USAGE: rainctl \(command)"))
        }
        #expect(!options.isEmpty || words.contains("rainctl"))
    }

    /// Remedies whose options only signing in has, though other commands fail with their errors: `account refresh` of a public client wants its
    /// secret, any command a session.
    static let ofSigningIn: [Remedy] = [
        .signIn, .signInPage, .pastedAddress, .otherCallbackPort, .baseURL, .clientID, .clientSecret,
        .parameter(name: "companyId"), .secretParameter(name: "signSecret"), .gateCredentials, .applicationID,
        .redirectURI, .rememberedSettings(["loginBy"]),
        .rememberedSettings([]), .fileStore,
    ]

    @Test("name the command that has the option, where the one that failed may lack it", arguments: ofSigningIn)
    func fromElsewhere(remedy: Remedy) throws {
        #expect(remedy.option.contains("rainctl login"), "\(remedy.option)")
        for option in remedy.option.split(separator: " ") where option.hasPrefix("--") {
            #expect(try Self.help("login").contains("  \(option) "), "\(option)")
            #expect(try !Self.help("account refresh").contains("  \(option) "), "\(option)")
        }
    }

    @Test("are one sentence after the message, which has all of them")
    func sentence() {
        #expect("No.".withAdvice([]) == "No.")
        #expect("No.".withAdvice([.signInPage]) == "No. Sign in with rainctl login --browser.")
        #expect(
            "No.".withAdvice([.networkName, .moreTime])
                == "No. Name the network with rainctl provision --ssid, or allow more time with --timeout.")
    }

    @Test("do not suggest an option that was given, but another value")
    func given() {
        let given = GivenOptionNames(arguments: [
            "provision", "--port=/dev/ttyUSB0", "--device_host", "h", "--pop-file", "p",
        ])
        #expect("No.".withAdvice([.proofOfPossession], given: given) == "No.")
        #expect("No.".withAdvice([.port([])], given: given) == "No. Name another port with --port.")
        #expect(
            "No.".withAdvice([.host], given: given)
                == "No. Give another address with --device-host HOST or HOST:PORT.")
        #expect("No.".withAdvice([.waiting], given: given) == "No. Wait for the board with --wait.")
        #expect(!GivenOptionNames(arguments: ["device", "send", "--", "--port"]).contains("port"))
        for (remedy, _) in Self.all {
            let text = remedy.option(
                beside: GivenOptionNames(arguments: remedy.option.split(separator: " ").map(String.init)))
            #expect(
                text != remedy.option || text?.contains("rainctl ") == true || Self.others.contains(remedy), "\(remedy)"
            )
        }
    }

    /// Name another value, or the opposite, of an option that may be given.
    private static let others: Set<Remedy> = [
        .anySecurity, .acceptedSecurity(version: 0), .otherTransport, .accessPoint, .macAddress, .flashAddress,
        .accountName, .scheduleTime, .scheduleDays, .laterSchedule, .otherParent,
        .repairedCopies, .valuesOfNode,
    ]

    private static func help(_ command: String) throws -> String {
        let name = "rainctl-" + command.split(separator: " ").joined(separator: "-")
        return try readFile("\(RecordedOutput.folder)/Help/\(name).txt")
    }
}
