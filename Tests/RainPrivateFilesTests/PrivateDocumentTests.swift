// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import RainPrivateFiles

@Suite("A private document")
struct PrivateDocumentTests {
    private struct Note: Codable, Sendable, Equatable {
        var text: String
    }

    private enum Fault: Error, Equatable {
        case document(PrivateDocumentError.Code)
        case refused
    }

    private let folder: TemporaryFolder
    private let document: PrivateDocument<Note>

    init() throws {
        folder = try TemporaryFolder()
        document = PrivateDocument(path: folder.file("note"), maximumBytes: 100)
    }

    private func load() throws(Fault) -> Note? { try document.load { Fault.document($0.code) } }

    private func change(_ body: (inout Note?) throws(Fault) -> Void) throws(Fault) {
        try document.change(orThrow: { Fault.document($0.code) }, body)
    }

    private struct Counted: Codable, Sendable {
        static let decoded = Mutex(0)
        var text: String

        init(from decoder: any Decoder) throws {
            Self.decoded.withLock { $0 += 1 }
            text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
        }
    }

    /// Writes the note again, with a later time of change but the same date and length.
    private func replace(_ text: String) {
        var before = stat()
        var after = stat()
        stat(folder.file("note"), &before)
        repeat {
            folder.writePrivately(Array("{\"text\":\"\(text)\"}".utf8), to: "note")
            var times = [before.st_mtim, before.st_mtim]
            utimensat(AT_FDCWD, folder.file("note"), &times, 0)
            stat(folder.file("note"), &after)
        } while after.st_ctim.tv_sec == before.st_ctim.tv_sec && after.st_ctim.tv_nsec == before.st_ctim.tv_nsec
    }

    @Test("an unchanged file is decoded once, and every change of it is noticed")
    func unchanged() throws {
        let document = PrivateDocument<Counted>(path: folder.file("note"))
        let known = ReadFiles { .max }
        replace("one")
        for _ in 0..<3 { #expect(try document.load(known)?.text == "one") }
        #expect(Counted.decoded.withLock { $0 } == 1)
        replace("two")
        for _ in 0..<3 { #expect(try document.load(known)?.text == "two") }
        #expect(Counted.decoded.withLock { $0 } == 2)
        chmod(folder.file("note"), 0o644)
        #expect(throws: PrivateFileError.self) { try document.load(known) }
        unlink(folder.file("note"))
        #expect(try document.load(known)?.text == nil)

        // Two changes within a step of the file system's clock could look alike.
        replace("six")
        var status = stat()
        stat(folder.file("note"), &status)
        let second = status.st_ctim.tv_sec
        for (now, more) in [(second, 2), (second + 2, 2), (second - 9, 2), (second + 3, 1)] {
            let before = Counted.decoded.withLock { $0 }
            let known = ReadFiles { now }
            for _ in 0..<2 { #expect(try document.load(known)?.text == "six") }
            #expect(Counted.decoded.withLock { $0 } == before + more)
        }
    }

    @Test("is nil without a file, and what it was changed to afterwards")
    func changes() throws {
        #expect(try load() == nil)
        try change { $0 = Note(text: "one") }
        #expect(try load() == Note(text: "one"))
        try change { $0?.text = "two" }
        #expect(try load() == Note(text: "two"))
        try change { $0 = nil }
        #expect(try load() == nil)
        #expect(try PrivateFile(path: document.path).read() == nil)
    }

    @Test("an error of the change is thrown as it is, and changes nothing")
    func refused() throws {
        try change { $0 = Note(text: "one") }
        #expect(throws: Fault.refused) {
            try change { note throws(Fault) in
                note?.text = "two"
                throw .refused
            }
        }
        #expect(try load() == Note(text: "one"))
    }

    @Test("what a newer version of the program wrote is neither read nor replaced")
    func newer() throws {
        let text = Array(#"{"schemaVersion":2,"text":"one","more":7}"#.utf8)
        try PrivateFile(path: document.path).write(text)
        #expect(throws: Fault.document(.unreadable)) { try load() }
        #expect(throws: Fault.document(.unreadable)) { try change { $0?.text = "two" } }
        #expect(try PrivateFile(path: document.path).read() == text)
        let error = #expect(throws: PrivateDocumentError.self) { try document.load { $0 } }
        #expect(error?.isNewer == true && "\(error!)".contains("newer version"))
    }

    @Test("another content is unreadable, and is not replaced")
    func foreign() throws {
        try PrivateFile(path: document.path).write(Array("[]".utf8))
        #expect(throws: Fault.document(.unreadable)) { try load() }
        #expect(throws: Fault.document(.unreadable)) { try change { $0 = nil } }
        #expect(try PrivateFile(path: document.path).read() == Array("[]".utf8))
    }

    @Test("what would be too long to be read again is not written")
    func tooLong() throws {
        #expect(throws: Fault.self) { try change { $0 = Note(text: String(repeating: "x", count: 100)) } }
        #expect(try load() == nil)
    }

    @Test("a folder that others may write to stores nothing")
    func openFolder() throws {
        chmod(folder.path, 0o777)
        #expect(throws: Fault.document(.unwritable)) { try change { $0 = Note(text: "one") } }
    }
}
