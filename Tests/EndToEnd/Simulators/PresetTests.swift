// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import TestSupport
import Testing

@testable import firmware_sim

/// Which firmware announces what: part 9 of the device's specification, and ESP-IDF's own sources.
@Suite("The firmware that firmware-sim plays")
struct PresetTests {
    struct Announced: CustomTestStringConvertible, Sendable {
        var arguments: [String]
        /// `prov`: version, `sec_ver`, `sec_patch_ver`, capabilities.
        var version = "netprov-v1.2"
        var security: Int64?
        var patch: Int64?
        var capabilities: [JSONValue] = ["wifi_prov", "wifi_scan"]
        var signs = false
        /// Beside those that every firmware has.
        var endpoints: [String] = ["prov-ctrl"]
        var testDescription: String { arguments.isEmpty ? "(none)" : arguments.joined(separator: " ") }
    }

    static let announced = [
        Announced(arguments: [], security: 2, patch: 1, signs: true, endpoints: ["prov-ctrl", "ch_resp"]),
        Announced(
            arguments: ["--preset", "rainmaker-1.14"], security: 2, patch: 1, signs: true,
            endpoints: ["prov-ctrl", "ch_resp"]),
        Announced(
            arguments: ["--preset", "rainmaker-1.8.5"], security: 1, patch: 0, signs: true,
            endpoints: ["prov-ctrl", "ch_resp"]),
        Announced(
            arguments: ["--preset", "rainmaker-1.0"], version: "v1.1", capabilities: ["wifi_scan"],
            endpoints: ["cloud_user_assoc"]),
        Announced(arguments: ["--preset", "idf-6.0"], security: 2, patch: 1, endpoints: ["prov-ctrl", "custom-data"]),
        Announced(
            arguments: ["--preset", "idf-5.5"], version: "v1.1", security: 2, patch: 1, capabilities: ["wifi_scan"],
            endpoints: ["prov-ctrl", "custom-data"]),
        Announced(
            arguments: ["--preset", "idf-5.1"], version: "v1.1", security: 2, capabilities: ["wifi_scan"],
            endpoints: ["prov-ctrl", "custom-data"]),
        Announced(
            arguments: ["--preset", "idf-5.0"], version: "v1.1", security: 2, capabilities: ["wifi_scan"],
            endpoints: ["custom-data"]),
        Announced(
            arguments: ["--preset", "idf-4.4"], version: "v1.1", capabilities: ["wifi_scan"], endpoints: ["custom-data"]
        ),
        // One thing changed.
        Announced(
            arguments: ["--security", "0", "--patch", "0", "--mapping", "none"], security: 0,
            capabilities: ["no_sec", "wifi_prov", "wifi_scan"]),
        Announced(arguments: ["--security", "1", "--patch", "0", "--mapping", "none"], security: 1),
        Announced(arguments: ["--security", "1", "--mapping", "none"], security: 1, patch: 0),
        Announced(
            arguments: ["--no-pop", "--mapping", "none"], security: 1, patch: 0,
            capabilities: ["no_pop", "wifi_prov", "wifi_scan"]),
        Announced(
            arguments: ["--preset", "idf-5.5", "--mapping", "user", "--custom-endpoint", "mine"], version: "v1.1",
            security: 2, patch: 1, capabilities: ["wifi_scan"], endpoints: ["prov-ctrl", "cloud_user_assoc", "mine"]),
    ]

    @Test("each announces its version, and has its endpoints and no other", arguments: announced)
    func announces(board: Announced) async throws {
        try await withFirmware(board.arguments) { ready in
            let peer = try RawHTTPPeer(try #require(ready["http"]?.string))
            peer.post("proto-ver", [0x2D])
            let version = try JSONValue(parsing: await peer.nextResponse().body)
            #expect(version["prov"]?["ver"]?.string == board.version)
            #expect(version["prov"]?["sec_ver"]?.integer == board.security)
            #expect(version["prov"]?["sec_patch_ver"]?.integer == board.patch)
            #expect(version["prov"]?["cap"] == .array(board.capabilities))
            #expect((version["rmaker_extra"]?["cap"] == ["ch_resp"]) == board.signs)
            #expect(version["rmaker"] == nil)
            let optional = ["prov-ctrl", "ch_resp", "cloud_user_assoc", "rmaker_claim", "custom-data", "mine"]
            for endpoint in optional {
                let peer = try RawHTTPPeer(try #require(ready["http"]?.string))
                peer.send("GET /\(endpoint) HTTP/1.1\r\n\r\n")
                let isThere = await peer.nextResponse().text.hasPrefix("HTTP/1.1 405")
                #expect(isThere == board.endpoints.contains(endpoint), "\(endpoint)")
            }
        }
    }

    /// As it is started by hand: nothing is added to the arguments.
    private func withFirmware(_ arguments: [String], _ body: (JSONValue) async throws -> Void) async throws {
        try await withChildProcess(
            try Executables.path("firmware-sim"), ["--http", "127.0.0.1:0"] + arguments
        ) { board in
            try await body(try JSONValue(parsing: Array(try await board.readyLine().utf8)))
        }
    }
}
