// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// A secret's file as an editor of another system writes it.
@Suite("Files with a secret")
struct SecretFileTests {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    static let files: [(bytes: [UInt8], secret: String)] = [
        (mark + Array("abcd1234\r\n".utf8), "abcd1234"), (mark + Array("correct horse\r\n".utf8), "correct horse"),
        (Array(" correct horse \n".utf8), " correct horse "), (Array("abcd1234".utf8), "abcd1234"),
    ]

    @Test("give the secret alone, with its blanks", arguments: files)
    func read(bytes: [UInt8], secret: String) async throws {
        try await withTemporaryFolder { folder in
            folder.writePrivately(bytes, to: "secret")
            let found = try SecretSource.contents(of: folder.file("secret"), name: "proof of possession")
            #expect(found.revealString() == secret)
        }
    }

    static let refused: [(bytes: [UInt8], words: String)] = [
        ([0xFF, 0xFE] + Array("abcd1234".utf8).flatMap { [$0, 0] }, "UTF-16"),
        ([0xFE, 0xFF] + Array("abcd1234".utf8).flatMap { [0, $0] }, "UTF-16"),
        (Array("abcd1234".utf8).flatMap { [$0, 0] }, "NUL"), (Array("abcd\u{0}1234".utf8), "NUL"),
        (Array("abcd1234\nsecond\n".utf8), "more than one line"),
        (Array("# comment\nabcd1234\n".utf8), "more than one line"),
    ]

    @Test("are refused, with the place, if they do not hold one", arguments: refused)
    func refuse(bytes: [UInt8], words: String) async throws {
        try await withTemporaryFolder { folder in
            folder.writePrivately(bytes, to: "secret")
            let error = #expect(throws: CommandFailure.self) {
                try SecretSource.contents(of: folder.file("secret"), name: "proof of possession")
            }
            #expect(error?.status == .badData && error?.reason == "bad_secret_file")
            #expect(error?.message.contains(words) == true && error?.message.contains(folder.file("secret")) == true)
            #expect(error?.message.contains("abcd") == false)
        }
    }

    @Test("data for a board keep every byte")
    func exact() async throws {
        try await withTemporaryFolder { folder in
            let bytes = Self.mark + Array("a\0\r\n\n".utf8)
            folder.writePrivately(bytes, to: "data")
            let read = try Payload(file: folder.file("data")).bytes(within: .seconds(600))
            #expect(read == bytes)
        }
    }

    @Test("JSON in a file may begin with a mark, and UTF-16 is named")
    func json() async throws {
        try await withTemporaryFolder { folder in
            folder.writePrivately(Self.mark + Array(#"{"a":1}"#.utf8), to: "values")
            let json = try Payload.object(
                file: folder.file("values"), name: "metadata", reason: "bad_metadata", within: .seconds(600))
            #expect(json["a"]?.integer == 1)
            folder.writePrivately([0xFF, 0xFE] + Array(#"{"a":1}"#.utf8).flatMap { [$0, 0] }, to: "values")
            let error = #expect(throws: CommandFailure.self) {
                try Payload.object(
                    file: folder.file("values"), name: "metadata", reason: "bad_metadata", within: .seconds(600))
            }
            #expect(error?.message.contains("UTF-16") == true)
        }
    }
}
