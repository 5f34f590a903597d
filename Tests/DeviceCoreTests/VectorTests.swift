// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import TestSupport
import Testing

/// The published conversations: recorded from Espressif's C firmware, which talked to Espressif's Python client.
@Suite("The firmware's recorded conversations")
struct VectorTests {
    static let names = ["sec0", "sec1_pop", "sec1_nopop", "sec2_patch1", "sec2_patch0"]

    private func vectors(_ name: String) throws -> JSONValue {
        let text = try readFile(Repository.path("Tests/ProtocommCoreTests/Fixtures/vectors.json"))
        return try #require(try JSONValue(parsing: Array(text.utf8))[name])
    }

    @Test("each request in clear gets the recorded answer", arguments: names)
    func plainAnswers(name: String) throws {
        let vector = try vectors(name)
        var board = Board(
            DeviceConfiguration(nodeID: [0x41], security: .security0),
            radio: SimulatedRadio(accessPoints: neighbourhood, channelDelay: 0))
        let exchanges = try #require(vector["rpc"]?.array)
        #expect(exchanges.count == 6)
        for exchange in exchanges {
            let endpoint = Endpoint(name: Array(try #require(exchange["ep"]?.string).utf8))
            let request = hex(try #require(exchange["req_plain"]?.string))
            #expect(board.send(request, endpoint) == .reply(hex(try #require(exchange["resp_plain"]?.string))))
        }
    }

    @Test("the whole conversation, handshake and cipher included, is the recorded one", arguments: names)
    func wholeConversation(name: String) throws {
        let vector = try vectors(name)
        var core = try self.core(name, vector)
        let exchanges = try #require(vector["handshake"]?.array) + #require(vector["rpc"]?.array)
        for exchange in exchanges {
            let endpoint = Endpoint(name: Array(try #require(exchange["ep"]?.string).utf8))
            let request = hex(try #require((exchange["req_wire"] ?? exchange["req"])?.string))
            let reply = hex(try #require((exchange["resp_wire"] ?? exchange["resp"])?.string))
            #expect(core.respond(to: request, on: endpoint, session: 7, now: 0) == .reply(reply))
        }
    }

    @Test("the version information is the recorded text", arguments: names)
    func versionText(name: String) throws {
        let vector = try vectors(name)
        var core = try self.core(name, vector)
        let text = try #require(vector["proto_ver"]?.string)
        #expect(core.respond(to: [0x2D], on: .version, session: 7, now: 0) == .reply(Array(text.utf8)))
    }

    private typealias ScriptedCore = DeviceCore<DeviceSecurity<OpenSSLCrypto, ScriptedRandom>, HashSigner>

    private func core(_ name: String, _ vector: JSONValue) throws -> ScriptedCore {
        func bytes(_ key: String) throws -> [UInt8] { hex(try #require(vector[key]?.string)) }
        func text(_ key: String) throws -> [UInt8] { Array(try #require(vector[key]?.string).utf8) }
        var configuration = DeviceConfiguration(
            nodeID: [0x41], security: .security0, association: .challengeResponse)
        let security: DeviceSecurity<OpenSSLCrypto, ScriptedRandom>
        switch name {
        case "sec0": security = .security0(Security0Device())
        case "sec1_pop", "sec1_nopop":
            configuration.security = .security1
            configuration.hasProofOfPossession = name == "sec1_pop"
            security = .security1(
                Security1Device(
                    proofOfPossession: try text("pop"),
                    random: ScriptedRandom(try bytes("device_private") + bytes("device_random_iv"))))
        default:
            configuration.security = .security2
            configuration.patchVersion = name == "sec2_patch1" ? 1 : 0
            let verifier = Security2Verifier(salt: try bytes("salt"), verifier: try bytes("verifier"))
            // The counter at the end of the newer nonce is not random.
            let nonce = Array(try bytes("device_nonce").prefix(name == "sec2_patch1" ? 8 : 16))
            security = .security2(
                Security2Device(
                    verifier: verifier, patchVersion: name == "sec2_patch1" ? .countedNonce : .constantNonce,
                    random: ScriptedRandom(try bytes("b") + nonce)))
        }
        return ScriptedCore(
            configuration: configuration, radio: SimulatedRadio(accessPoints: neighbourhood, channelDelay: 0),
            security: security, signer: HashSigner())
    }
}
