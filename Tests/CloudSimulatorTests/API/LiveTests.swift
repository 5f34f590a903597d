// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Testing

@testable import CloudSimulator

@Suite("Roles for live changes")
struct LiveTests {
    private struct Scene {
        let cloud: TestCloud
        let token: String

        init() throws {
            cloud = try TestCloud(nodes: ["own", "foreign"])
            token = try cloud.signIn().access
            try cloud.map("own", token: token)
        }
    }

    @Test("are given for one to five of the user's own nodes, for MQTT or video")
    func roles() throws {
        let scene = try Scene()
        func assume(_ body: JSONValue) -> Response {
            scene.cloud.send("POST", "/v1/user/assume_role", body, token: scene.token)
        }
        let role = assume(["user_role": "mqtt", "node_ids": ["own"]])
        #expect(role.status == 200 && role.body["access_key"]?.string?.isEmpty == false, "\(role)")
        #expect(assume(["node_ids": ["own"]]).body["error_code"] == 119018)
        #expect(assume(["user_role": "admin", "node_ids": ["own"]]).body["error_code"] == 119018)
        #expect(assume(["user_role": "mqtt"]).body["error_code"] == 119019)
        #expect(
            assume(["user_role": "mqtt", "node_ids": ["1", "2", "3", "4", "5", "6"]]).body["error_code"] == 119019)
        #expect(assume(["user_role": "mqtt", "node_ids": ["foreign"]]).body["error_code"] == 100010)
    }

    @Test("a request without a signature, or with one of nobody, is forbidden")
    func unsigned() throws {
        let scene = try Scene()
        for query in [
            "", "?X-Amz-Algorithm=AWS4-HMAC-SHA256",
            "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A%2F20280229%2Fus-east-1%2Fiotdevicegateway%2Faws4_request&X-Amz-Date=20280229T235959Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host&X-Amz-Signature=00",
        ] {
            let reply = scene.cloud.api.respond(to: Request(method: "GET", target: "/mqtt" + query))
            #expect(reply.status == 403 && reply.takeOver == nil, "\(query)")
        }
    }

    @Test("a signature is good from when it was made until it expires, and for its own host, role and path alone")
    func signatures() throws {
        // Made by botocore 1.43.11 for these credentials, at 2028-02-29T23:59:59Z; the token was put behind it.
        let target =
            "/mqtt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20280229%2Fus-east-1%2Fiotdevicegateway%2Faws4_request&X-Amz-Date=20280229T235959Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host&X-Amz-Signature=e424f23eaae1f522c38fe9ccfa7b51298bf2765b8ee51fa48f35194a4d8c927a&X-Amz-Security-Token=T%2F%3D"
        func role(secret: String = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", token: String = "T/=", end: Int64 = .max)
            -> RoleTable.Role
        {
            RoleTable.Role(
                accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: secret, sessionToken: token, nodes: [], expiresAt: end)
        }
        func isValid(
            _ target: String, _ role: RoleTable.Role = role(), host: String = "127.0.0.1:8080", at now: Int64
        ) -> Bool {
            let request = Request(method: "GET", target: target, headers: [.init("Host", host)])
            return RequestSignature(request)?.isValid(for: role, now: now) ?? false
        }
        let made: Int64 = 1_835_481_599_000
        #expect(isValid(target, at: made) && isValid(target, at: made + 300_000) && isValid(target, at: made - 300_000))
        #expect(!isValid(target, at: made + 300_001) && !isValid(target, at: made - 300_001))
        #expect(!isValid(target, host: "127.0.0.1:8081", at: made))
        #expect(!isValid(target.replacing("/mqtt", with: "/mqtt2"), at: made))
        #expect(!isValid(target.replacing("Expires=300", with: "Expires=301"), at: made))
        #expect(!isValid(target.replacing("e424", with: "e425"), at: made))
        #expect(!isValid(target, role(secret: "x"), at: made) && !isValid(target, role(token: "T"), at: made))
        #expect(!isValid(target, role(end: made), at: made))
        #expect(!isValid(target.replacing("20280229T235959Z", with: "20280229T2359"), at: made))
    }

    private static let connect: [UInt8] = [0x10, 14, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 30, 0, 2, 0x61, 0x62]

    @Test("a client's packets and frames are read in any split, and anything else ends the connection")
    func reading() throws {
        let packets = Self.connect + [0x82, 6, 1, 2, 0, 1, 0x63, 0] + [0xC0, 0, 0xE0, 0]
        let expected: [ClientPackets.Packet] = [
            .connect(keepAlive: 30, clientID: "ab"), .subscribe(id: [1, 2], topics: ["c"]), .ping, .disconnect,
        ]
        // Masked with 1, 2, 3, 4 (RFC 6455, 5.3), in two fragments and a ping between them.
        func frame(_ head: UInt8, _ payload: ArraySlice<UInt8>) -> [UInt8] {
            [head, 0x80 | UInt8(payload.count), 1, 2, 3, 4] + payload.enumerated().map { $1 ^ UInt8($0 % 4 + 1) }
        }
        let stream = frame(0x02, packets[..<10]) + frame(0x89, [7]) + frame(0x80, packets[10...]) + frame(0x88, [])
        for cut in 0...stream.count {
            var (frames, reader) = (ClientFrames(), ClientPackets())
            var read: [ClientPackets.Packet] = []
            var others: [ClientFrames.Frame] = []
            for part in [stream[..<cut], stream[cut...]] {
                frames.append(Array(part))
                while let frame = try frames.next() {
                    guard case .data(let payload) = frame else {
                        others.append(frame)
                        continue
                    }
                    reader.append(payload)
                    while let packet = try reader.next() { read.append(packet) }
                }
            }
            #expect(read == expected && others == [.ping([7]), .close], "\(cut)")
        }
        for bytes: [UInt8] in [
            [0x82, 0x01, 1], [0x81, 0x81, 0, 0, 0, 0, 1], [0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 12),
        ] {
            var frames = ClientFrames()
            frames.append(bytes)
            #expect(throws: ClientFrames.Violation.self) { try frames.next() }
        }
        for bytes: [UInt8] in [
            [0x30, 1, 0], [0x82, 2, 0, 1], [0x10, 2, 0, 0], [0xC0, 0x80, 0x80, 0x80, 0x80, 0x80],
        ] {
            var reader = ClientPackets()
            reader.append(bytes)
            #expect(throws: ClientFrames.Violation.self) { try reader.next() }
        }
    }
}
