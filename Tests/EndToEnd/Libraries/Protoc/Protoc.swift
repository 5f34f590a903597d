// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProtocommCore
import TestSupport

/// The protobuf compiler, run for real: it turns text into bytes and bytes into text, many messages at once.
struct Protoc {
    /// The file among the fixtures; its package has the same name.
    let schema: String

    /// The bytes of each message in text format.
    func encode(_ texts: [String]) async throws -> [[UInt8]] {
        let batch = texts.map { "item { \($0) }\n" }.joined()
        let encoded = try await run("--encode", Array(batch.utf8))
        return try Batch.split(encoded)
    }

    /// One text for all messages, and the bytes that protoc makes of it again.
    func decode(_ messages: [[UInt8]]) async throws -> (text: String, again: [[UInt8]]) {
        let text = try await run("--decode", Batch.join(messages))
        let again = try await run("--encode", text)
        return (String(decoding: text, as: UTF8.self), try Batch.split(again))
    }

    private func run(_ mode: String, _ input: [UInt8]) async throws -> [UInt8] {
        try await withTemporaryFolder { folder in
            let (source, result) = (folder.file("input"), folder.file("output"))
            try Data(input).write(to: URL(fileURLWithPath: source))
            let command = "exec protoc -I \"$1\" \"$2\"=\"$3\".Batch \"$1/$3.proto\" < \"$4\" > \"$5\""
            let finished = try await TestSupport.run(
                "sh", ["-c", command, "sh", Schema.folder(), mode, schema, source, result])
            guard finished.status == .exited(0) else { throw ProtocFailure(description: finished.standardError) }
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: result)))
        }
    }
}

struct ProtocFailure: Error, CustomStringConvertible {
    let description: String
}

/// `message Batch { repeated X item = 1; }` as bytes, by hand.
private enum Batch {
    static func join(_ items: [[UInt8]]) -> [UInt8] {
        items.flatMap { [0x0A] + varint($0.count) + $0 }
    }

    static func split(_ bytes: [UInt8]) throws -> [[UInt8]] {
        var items: [[UInt8]] = []
        var reader = WireReader(bytes)
        while try reader.nextField() { items.append(try reader.byteString()) }
        return items
    }

    private static func varint(_ value: Int) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }
}
