// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainPrivateFiles
import TestSupport
import Testing

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
