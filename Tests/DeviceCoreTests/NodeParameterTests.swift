// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import Testing

@Suite("The node's parameters")
struct NodeParameterTests {
    private func text(_ publication: NodePublication?) -> String {
        guard let publication else { return "" }
        return String(decoding: publication.topic + Array(" ".utf8) + publication.payload, as: UTF8.self)
    }

    /// A board that has reported its config.
    private func online() throws -> Board {
        var board = Board()
        board.core.published(try #require(board.core.nextPublication))
        return board
    }

    @Test("all are reported after the config of each connection")
    func initial() throws {
        var board = try online()
        let all = #"$aws/rules/esp_init_params/node/node1/params/local/init {"Light":{"Name":"Light","Power":true}}"#
        #expect(text(board.core.nextPublication) == all)
        board.core.published(try #require(board.core.nextPublication))
        #expect(board.core.nextPublication == nil)
        board.core.connectedToCloud()
        board.core.published(try #require(board.core.nextPublication))
        #expect(text(board.core.nextPublication) == all)
    }

    @Test("what the cloud sets is taken over and answered, and nothing else")
    func set() throws {
        var board = try online()
        board.core.published(try #require(board.core.nextPublication))
        board.core.setParameters(NodeParameters.Change(isOn: false))
        let topic = "$aws/rules/esp_set_params/node/node1/params/local "
        #expect(text(board.core.nextPublication) == topic + #"{"Light":{"Power":false}}"#)
        // More may come before that is acknowledged.
        let first = try #require(board.core.nextPublication)
        board.core.setParameters(NodeParameters.Change(name: Array("Läm\"p".utf8)))
        board.core.published(first)
        #expect(text(board.core.nextPublication) == topic + #"{"Light":{"Name":"Läm\"p","Power":false}}"#)
        board.core.published(try #require(board.core.nextPublication))
        #expect(board.core.nextPublication == nil)
        #expect(board.core.parameters.isOn == false)
        #expect(board.core.parameters.name == Array("Läm\"p".utf8))
        // The same value once more is answered once more.
        board.core.setParameters(NodeParameters.Change(isOn: false))
        #expect(board.core.nextPublication != nil)
    }

    @Test("a name that does not fit is not taken")
    func tooLong() throws {
        var board = try online()
        board.core.published(try #require(board.core.nextPublication))
        board.core.setParameters(
            NodeParameters.Change(name: [UInt8](repeating: 0x61, count: NodeParameters.nameLimit + 1)))
        #expect(board.core.nextPublication == nil)
        #expect(board.core.parameters.name == Array("Light".utf8))
    }

    @Test("a mapping goes before, also when it comes in between")
    func mappingFirst() throws {
        var board = try online()
        let all = try #require(board.core.nextPublication)
        board.core.startUserMapping(userID: Array("u".utf8), secretKey: Array("s".utf8))
        #expect(board.core.nextPublication?.kind == .userMapping)
        // Its acknowledgement still counts.
        board.core.published(all)
        board.core.published(try #require(board.core.nextPublication))
        #expect(board.core.nextPublication == nil)
    }
}
