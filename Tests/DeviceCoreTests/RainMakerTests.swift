// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Testing

@Suite("RainMaker's endpoints and messages")
struct RainMakerTests {
    private func mapping(_ userID: String, _ secret: String) -> [UInt8] {
        UserMappingPayload(
            .commandSetUserMapping(SetUserMappingCommand(userID: Array(userID.utf8), secretKey: Array(secret.utf8)))
        )
        .encoded()
    }

    @Test("user mapping answers with the node id, and is published after the config, until it is acknowledged")
    func userMapping() throws {
        var board = Board()
        guard case .reply(let reply) = board.send(mapping("user-1", "secret-1"), .userMapping) else { throw Refused() }
        let answer = SetUserMappingResponse(status: .success, nodeID: Array("node1".utf8))
        #expect(try UserMappingPayload(decoding: reply).payload == .responseSetUserMapping(answer))

        let config = try #require(board.core.nextPublication)
        #expect(String(decoding: config.topic, as: UTF8.self) == "$aws/rules/esp_node_config/node/node1/config")
        #expect(try JSONValue(parsing: config.payload)["node_id"] == "node1")
        board.core.published(config)

        let message = try #require(board.core.nextPublication)
        #expect(
            String(decoding: message.topic, as: UTF8.self)
                == "$aws/rules/esp_user_node_mapping/node/node1/user/mapping")
        #expect(
            String(decoding: message.payload, as: UTF8.self)
                == #"{"node_id":"node1","user_id":"user-1","secret_key":"secret-1"}"#)
        #expect(board.core.nextPublication == message)
        board.core.published(message)
        board.core.published(try #require(board.core.nextPublication))
        #expect(board.core.nextPublication == nil)
        board.core.connectedToCloud()
        #expect(board.core.nextPublication == config)
    }

    @Test("a second mapping replaces the first, also while the first is on its way")
    func replaced() throws {
        var board = Board()
        board.core.published(try #require(board.core.nextPublication))
        _ = board.send(mapping("user-1", "secret-1"), .userMapping)
        let first = try #require(board.core.nextPublication)
        _ = board.send(mapping("user-1", "secret-2"), .userMapping)
        board.core.published(first)
        let second = try #require(board.core.nextPublication)
        #expect(String(decoding: second.payload, as: UTF8.self).contains("secret-2"))
    }

    @Test("without its member, or of another type, a mapping is refused in the firmware's two ways")
    func mappingRefusals() throws {
        var board = Board()
        guard case .reply(let reply) = board.send([0x08, 0x00], .userMapping) else { throw Refused() }
        #expect(
            try UserMappingPayload(decoding: reply).payload
                == .responseSetUserMapping(SetUserMappingResponse(status: .invalidParameter)))
        #expect(board.send([0x08, 0x01], .userMapping) == .reply([]))
        board.core.published(try #require(board.core.nextPublication))
        #expect(board.core.nextPublication?.kind == .initialParameters)
    }

    @Test("a mapping that does not fit the firmware's 200 bytes is never published")
    func tooLongMapping() throws {
        var board = Board()
        board.core.published(try #require(board.core.nextPublication))
        _ = board.send(mapping(String(repeating: "u", count: 160), "s"), .userMapping)
        #expect(board.core.nextPublication?.kind == .initialParameters)
    }

    private func challengeBoard(_ signer: HashSigner? = HashSigner()) -> Board {
        Board(
            DeviceConfiguration(nodeID: Array("node1".utf8), security: .security0, association: .challengeResponse),
            signer: signer)
    }

    @Test("a challenge is signed and answered with the node id")
    func challenge() throws {
        var board = challengeBoard()
        let request = ChallengeResponsePayload(.commandChallengeResponse(ChallengeCommand(payload: Array("c".utf8))))
        guard case .reply(let reply) = board.send(request.encoded(), .challengeResponse) else { throw Refused() }
        let answer = ChallengeResponse(payload: OpenSSLHashes.sha256(Array("c".utf8)), nodeID: Array("node1".utf8))
        #expect(
            try ChallengeResponsePayload(decoding: reply)
                == ChallengeResponsePayload(.responseChallengeResponse(answer)))
        #expect(board.core.takeEvents().contains(.challengeSigned))
    }

    @Test("once disabled, everything is answered as a disabled challenge")
    func disabled() throws {
        var board = challengeBoard()
        let disable = ChallengeResponsePayload(.commandDisableChallengeResponse).encoded()
        guard case .reply(let reply) = board.send(disable, .challengeResponse) else { throw Refused() }
        #expect(
            try ChallengeResponsePayload(decoding: reply) == ChallengeResponsePayload(.responseDisableChallengeResponse)
        )
        for request in [disable, ChallengeResponsePayload(.commandGetNodeID).encoded()] {
            #expect(board.send(request, .challengeResponse) == .reply([0x08, 0x01, 0x10, 0x03]))
        }
    }

    @Test("asking for the node id was never implemented, and without a key there is no answer")
    func unimplemented() {
        var board = challengeBoard()
        #expect(board.send(ChallengeResponsePayload(.commandGetNodeID).encoded(), .challengeResponse) == .refused)
        var keyless = challengeBoard(nil)
        let request = ChallengeResponsePayload(.commandChallengeResponse(ChallengeCommand(payload: [1])))
        #expect(keyless.send(request.encoded(), .challengeResponse) == .refused)
    }

    @Test("a board without a certificate asks for a claim")
    func claim() throws {
        var board = Board(
            DeviceConfiguration(nodeID: Array("7CDFA1000001".utf8), security: .security0, isClaimed: false))
        guard case .reply(let text) = board.send([0x2D], .version) else { throw Refused() }
        #expect(try JSONValue(parsing: text)["rmaker"]?["cap"] == ["claim"])
    }

    @Test("the console's commands reach the same machine")
    func consoleCommands() throws {
        var board = Board()
        board.core.startUserMapping(userID: Array("u".utf8), secretKey: Array("s".utf8))
        board.core.published(try #require(board.core.nextPublication))
        #expect(board.core.nextPublication != nil)
        let wrong = WiFiCredentials(ssid: neighbourhood[0].ssid, passphrase: Array("wrong".utf8))
        let now = board.now
        #expect(board.core.provision(wrong, now: now) == true)
        board.wait(400)
        #expect(try board.status().state == .connectionFailed)
        // The board counts as provisioned now: the command goes straight to the driver.
        let right = WiFiCredentials(ssid: neighbourhood[0].ssid, passphrase: neighbourhood[0].passphrase)
        let later = board.now
        #expect(board.core.provision(right, now: later) == true)
        board.wait(400)
        #expect(try board.status().state == .connected)
    }
}
