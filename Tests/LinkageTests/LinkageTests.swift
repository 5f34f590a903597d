// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Proves what the products do not link, from what the linker was given.
@Suite("Linkage")
struct LinkageTests {
    /// The modules on a floor.
    private static func modules(on floor: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: Repository.path("Sources/\(floor)"))) ?? []
        return all.filter { !$0.hasPrefix(".") && $0 != "C" }.sorted()
    }

    /// The modules that gateway software links.
    static let clientTargets =
        ["System", "Boards", "Cloud"].flatMap(modules(on:)) + ["RainOnboarding", "RainKit"]
    /// The modules that also run on a chip: nothing but the standard library.
    static let embeddedTargets = ["ProtocommWire", "RainCrypto", "ProtocommSecurity", "DeviceCore"]

    /// How the names of a module's symbols begin.
    private func mangled(_ module: String) -> String { "\(module.utf8.count)\(module)" }

    /// The names that a target's object files take from elsewhere.
    private func undefinedSymbols(_ target: String) async throws -> [Substring] {
        let folder = "\(Executables.folder)/\(target).build"
        let objects = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".o") }
        try #require(!objects.isEmpty, "\(folder) has no object files")
        let listing = try await run("nm", ["--undefined-only", "--no-sort"] + objects.map { "\(folder)/\($0)" })
        try #require(listing.status == .exited(0), "\(listing.standardError)")
        return listing.standardOutput.split(separator: "\n")
    }

    @Test("client rooms take nothing from Foundation", arguments: clientTargets)
    func noFoundation(target: String) async throws {
        let symbols = try await undefinedSymbols(target)
        #expect(!symbols.contains { $0.contains("10Foundation") || $0.contains("FoundationEssentials") })
        #expect(!symbols.contains { $0.contains("_swift_FORCE_LOAD") && $0.contains("Foundation") })
    }

    @Test("embedded rooms take nothing from the C library, concurrency or threads either", arguments: embeddedTargets)
    func coreIsPure(target: String) async throws {
        let symbols = try await undefinedSymbols(target)
        let foreign = symbols.filter {
            $0.contains("Foundation") || $0.contains("5Glibc") || $0.contains("_Concurrency")
                || $0.contains("swift_task_")
        }
        #expect(foreign.isEmpty)
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
        let symbols = try await run("nm", ["--defined-only", path], within: .seconds(120)).standardOutput
        for unwanted in ["9FlyingFox", "12FlyingSocks", "14CloudSimulator", "10DeviceCore", "14RainKitTesting"] {
            #expect(!symbols.contains(unwanted), "rainctl contains \(unwanted)")
        }
    }

    @Test("account and cloud know nothing of boards, and provisioning knows no transport")
    func walls() async throws {
        let boards = Self.modules(on: "Boards"), cloud = Self.modules(on: "Cloud")
        try #require(boards.contains("Protocomm") && cloud.contains("RainAccount"))
        for (targets, foreign) in [(cloud, boards), (boards, cloud)] {
            for target in targets {
                let symbols = try await undefinedSymbols(target)
                for name in foreign.map(mangled) {
                    #expect(!symbols.contains { $0.contains(name) }, "\(target) takes something of \(name)")
                }
            }
        }
        let provisioning = try await undefinedSymbols("ESPProvisioning")
        let transports = [
            "ProtocommSerial", "ProtocommSoftAP", "ProtocommBLE", "RainDBus", "RainSerialPort", "RainHTTP",
        ]
        for transport in transports.map(mangled) {
            #expect(!provisioning.contains { $0.contains(transport) }, "provisioning takes something of \(transport)")
        }
    }
}
