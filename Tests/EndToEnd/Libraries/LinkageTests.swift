// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Proves what the products do not link, from what the linker was given.
@Suite("Linkage")
struct LinkageTests {
    static let boards = ["ESPProvisioning", "Protocomm", "ProtocommCore", "ProtocommTransports"]
    static let cloud = ["IdentityProviders", "RainAccount", "RainMaker"]
    /// The modules that gateway software links.
    static let clientTargets =
        boards + cloud + [
            "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainDBus", "RainHTTP", "RainHTTPCurl", "RainIO", "RainJSON",
            "RainKit", "RainPrivateFiles", "RainQRCode",
        ]
    /// The modules that also run on a chip: nothing but the standard library.
    static let embeddedTargets = ["DeviceCore", "ProtocommCore", "RainCrypto"]

    /// How the names of a module's symbols begin.
    private func mangled(_ module: String) -> String { "\(module.utf8.count)\(module)" }

    /// Returns the names that a target's object files take from elsewhere and that contain one of these words.
    private func undefinedSymbols(_ target: String, with words: [String]) async throws -> [Substring] {
        let folder = "\(Executables.folder)/\(target).build"
        let objects = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".o") }
        try #require(!objects.isEmpty, "\(folder) has no object files")
        return try await symbols("--undefined-only", of: objects.map { "\(folder)/\($0)" }, with: words)
    }

    /// Returns the lines of `nm` that contain one of these words. grep chooses them: there are millions.
    private func symbols(_ kind: String, of files: [String], with words: [String]) async throws -> [Substring] {
        let script = "set -o pipefail; nm --no-sort \"$1\" \"${@:3}\" | { grep -F \"$2\" || [ $? = 1 ]; }"
        let found = try await run(
            "bash", ["-c", script, "bash", kind, words.joined(separator: "\n")] + files, environment: ["LC_ALL": "C"])
        try #require(found.status == .exited(0), "\(found.standardError)")
        return found.standardOutput.split(separator: "\n")
    }

    @Test("client modules take nothing from Foundation", arguments: clientTargets)
    func noFoundation(target: String) async throws {
        let symbols = try await undefinedSymbols(target, with: ["Foundation"])
        let taken = symbols.filter {
            $0.contains("10Foundation") || $0.contains("FoundationEssentials") || $0.contains("_swift_FORCE_LOAD")
        }
        #expect(taken == [])
    }

    @Test("embedded modules take nothing from the C library, concurrency or threads either", arguments: embeddedTargets)
    func coreIsPure(target: String) async throws {
        let foreign = try await undefinedSymbols(
            target, with: ["Foundation", "5Glibc", "_Concurrency", "swift_task_"])
        #expect(foreign == [])
    }

    @Test("what a module takes is found")
    func found() async throws {
        #expect(try await !undefinedSymbols("RainAccount", with: [mangled("RainCore"), "_Concurrency"]).isEmpty)
        #expect(try await !symbols("--defined-only", of: [Executables.path("rainctl")], with: ["7rainctl"]).isEmpty)
    }

    @Test("rainctl links no HTTP, no server, no MQTT, no ICU and no desktop")
    func rainctl() async throws {
        let path = try Executables.path("rainctl")
        let libraries = try await run("ldd", [path]).standardOutput
        #expect(libraries.contains("libjson-c"))
        // libcurl is opened when it is needed: see packages.md.
        for unwanted in [
            "libcurl", "libsecret", "libglib", "libgio", "libdbus", "libsystemd", "mosquitto", "libFoundation.so",
            "FoundationNetworking",
            "FoundationInternationalization", "_FoundationICU",
        ] {
            #expect(!libraries.contains(unwanted), "rainctl links \(unwanted)")
        }
        let unwanted = ["9FlyingFox", "12FlyingSocks", "14CloudSimulator", "10DeviceCore", "14RainKitTesting"]
        #expect(try await symbols("--defined-only", of: [path], with: unwanted) == [])
    }

    @Test("account and cloud know nothing of boards, and provisioning knows no transport")
    func walls() async throws {
        for (targets, foreign) in [(Self.cloud, Self.boards), (Self.boards, Self.cloud)] {
            for target in targets {
                #expect(try await undefinedSymbols(target, with: foreign.map(mangled)) == [], "\(target)")
            }
        }
        let transports = ["ProtocommTransports", "RainDBus", "RainHTTP"]
        #expect(try await undefinedSymbols("ESPProvisioning", with: transports.map(mangled)) == [])
    }
}
