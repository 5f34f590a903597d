// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCrypto
import TestSupport
import Testing

/// protoc 3.21 as the judge of every message, in both directions.
@Suite("Messages, judged by protoc")
struct ProtocTests {
    /// A message type by its schema, its name there, and our codec: bytes to bytes by way of our value.
    struct Subject: Sendable, CustomTestStringConvertible {
        let schema: String
        let name: String
        let transcode: @Sendable ([UInt8]) throws -> [UInt8]
        var testDescription: String { name }

        init<Message: WireMessage>(_ schema: String, _ name: String, _: Message.Type) {
            self.schema = schema
            self.name = name
            transcode = { try Message(decoding: $0).encoded() }
        }
    }

    static let subjects = [
        Subject("session", "SessionData", SessionData.self),
        Subject("config", "NetworkConfigPayload", NetworkConfigPayload.self),
        Subject("scan", "NetworkScanPayload", NetworkScanPayload.self),
        Subject("control", "NetworkCtrlPayload", NetworkControlPayload.self),
        Subject("user_mapping", "RMakerConfigPayload", UserMappingPayload.self),
        Subject("challenge", "RMakerChRespPayload", ChallengeResponsePayload.self),
        Subject("claim", "RMakerClaimPayload", ClaimPayload.self),
        Subject("local_data", "RMakerLocalCtrlPayload", LocalDataPayload.self),
        Subject("local_control", "LocalCtrlMessage", LocalControlMessage.self),
    ]

    private static let count = 400

    @Test("what protoc writes, we read and write again byte for byte", arguments: subjects)
    func fromProtoc(_ subject: Subject) async throws {
        let written = try await Self.messages(of: subject, seed: 1)
        #expect(written.count == Self.count)
        // The generator must not write the same few messages over and over.
        #expect(Set(written).count > min(200, Self.count / 8))
        for bytes in written { #expect(try subject.transcode(bytes) == bytes) }
    }

    @Test("what we write, protoc reads and writes again byte for byte", arguments: subjects)
    func toProtoc(_ subject: Subject) async throws {
        let ours = try await Self.messages(of: subject, seed: 2).map(subject.transcode)
        let (text, again) = try await Protoc(schema: subject.schema).decode(ours)
        #expect(again == ours)
        // A field that protoc does not know is shown by its number.
        #expect(text.split(separator: "\n").allSatisfy { $0.first { $0 != " " }?.isNumber != true })
    }

    @Test("two messages in a row are merged as protoc merges them", arguments: subjects)
    func merged(_ subject: Subject) async throws {
        let messages = try await Self.messages(of: subject, seed: 3)
        let pairs = zip(messages, messages.dropFirst()).map { $0 + $1 }
        let merged = try await Protoc(schema: subject.schema).decode(pairs).again
        for (pair, expected) in zip(pairs, merged) { #expect(try subject.transcode(pair) == expected) }
    }

    @Test("fields that nobody knows change nothing, in front and behind", arguments: subjects)
    func unknownFields(_ subject: Subject) async throws {
        let unknown = [
            hex("c03e07"), hex("c03effffffffffffffffff01"), hex("c13e0102030405060708"), hex("c23e03010203"),
            hex("c23e00"), hex("c53e01020304"),
        ]
        let messages = try await Self.messages(of: subject, seed: 4)
        let extended = messages.enumerated().map { index, message in
            let field = unknown[index % unknown.count]
            return index.isMultiple(of: 2) ? field + message : message + field
        }
        for (message, extended) in zip(messages, extended) {
            #expect(try subject.transcode(extended) == message)
        }
    }

    @Test("every part of a message is read or refused with an error", arguments: subjects)
    func truncated(_ subject: Subject) async throws {
        for message in try await Self.messages(of: subject, seed: 5).prefix(100) {
            for length in 0..<message.count {
                do { _ = try subject.transcode(Array(message.prefix(length))) } catch is WireError {}
            }
            // Any tail is as hostile as any head.
            for length in 0..<message.count {
                do { _ = try subject.transcode(Array(message.suffix(length))) } catch is WireError {}
            }
        }
    }

    private static func messages(of subject: Subject, seed: UInt64) async throws -> [[UInt8]] {
        var generator = TextGenerator(schema: try Schema(subject.schema), random: ReproducibleRandom(seed: seed))
        let texts = (0..<count).map { _ in generator.message(subject.name) }
        return try await Protoc(schema: subject.schema).encode(texts)
    }
}
