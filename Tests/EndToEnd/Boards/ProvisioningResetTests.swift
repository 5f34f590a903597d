// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization
import TestSupport
import Testing

/// A connection that breaks (a TCP reset) is no board's decision: firmware that refuses ends it in order.
@Suite("rainctl provision: connections that are reset")
struct ProvisioningResetTests {
    struct Reset: CustomTestStringConvertible, Sendable {
        /// From which request to it on they are reset, counted from 1.
        var endpoint: String
        var number = 1
        var security = 0
        var isMapped = false
        var status = 14
        var code = "device_lost"
        var testDescription: String { "\(endpoint) \(number), Security \(security) → \(status)" }
    }

    static let resets = [
        Reset(endpoint: "proto-ver", status: 69, code: "unavailable"),
        Reset(endpoint: "prov-session", security: 1), Reset(endpoint: "prov-session", number: 2, security: 1),
        Reset(endpoint: "prov-session"), Reset(endpoint: "cloud_user_assoc", isMapped: true),
        Reset(endpoint: "prov-config"),
    ]

    @Test("a board that answered before is lost; one that never did is not there", arguments: resets)
    func reset(reset: Reset) async throws {
        try await withTemporaryFolder { folder in
            let board = try Self.board(reset)
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let options =
                (reset.security == 0 ? ["--sec-ver", "0"] : ["--pop-file", folder.file("pop")])
                + (reset.isMapped ? [] : ["--no-mapping"])
            let outcome = try await maker.rainctl(
                [
                    "provision", "--transport", "softap", "--device-host", "127.0.0.1:\(board.port)", "--ssid", "Home",
                    "--passphrase-file", folder.file("wifi"), "--timeout", "60s", "--json",
                ] + options)
            #expect(outcome.status == reset.status, "\(outcome.standardOutput)")
            #expect(outcome.failure?["code"]?.string == reset.code, "\(outcome.standardOutput)")
        }
    }

    /// A board up to the request that it is not allowed to answer.
    private static func board(_ reset: Reset) throws -> LoopbackServer {
        let asked = Mutex<[String: Int]>([:])
        let version = #"{"prov":{"ver":"netprov-v1.2","sec_ver":\#(reset.security),"cap":["wifi_prov","wifi_scan"]}}"#
        // Of the published vectors: any key will do, as nothing is decrypted here.
        let session =
            reset.security == 0
            ? hex("52050801aa0100")
            : hex(
                "10015a390801aa0134122064b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d484661a10"
                    + "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
        return try LoopbackServer { peer in
            while let request = peer.readRequest() {
                let endpoint = String(request.requestLine.split(separator: " ")[1].dropFirst())
                let number = asked.withLock { asked in
                    asked[endpoint, default: 0] += 1
                    return asked[endpoint, default: 0]
                }
                if endpoint == reset.endpoint, number >= reset.number { return peer.reset() }
                let body: [UInt8] =
                    switch endpoint {
                    case "proto-ver": Array(version.utf8)
                    case "prov-session": session
                    default: []
                    }
                peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nSet-Cookie: session=1\r\n\r\n")
                peer.write(body)
            }
        }
    }
}
