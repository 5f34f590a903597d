// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// Files that a program writes for given addresses. The program runs only the first time; later the same files are written with the other
/// addresses. Some tests need them two hundred times.
struct WrittenOnce {
    private static let known = Mutex<[String: [String]]>([:])

    /// Below `folder`.
    var files: [String]
    var folder: TemporaryFolder

    init(files: [String], in folder: TemporaryFolder) {
        self.files = files
        self.folder = folder
    }

    /// - Parameters:
    ///   - name: the same for whatever writes the same but for the addresses.
    ///   - program: starts it. Where a file is there already, it is always that.
    func make(for addresses: [String], as name: String, by program: ([String]) async throws -> Void) async throws {
        let isNew = files.allSatisfy { access(folder.file($0), F_OK) != 0 }
        if isNew, let texts = Self.known.withLock({ $0[name] }) {
            for (file, text) in zip(files, texts) { try write(fill(text, with: addresses), to: file) }
            return
        }
        try await program(addresses)
        guard isNew else { return }
        let texts = try files.map { empty(try folder.read($0), of: addresses) }
        Self.known.withLock { $0[name] = texts }
    }

    private func empty(_ text: String, of addresses: [String]) -> String {
        addresses.enumerated().sorted { $0.element.count > $1.element.count }.reduce(text) { text, address in
            text.replacing(address.element, with: "<<\(address.offset)>>")
        }
    }

    private func fill(_ text: String, with addresses: [String]) -> String {
        addresses.enumerated().reduce(text) { $0.replacing("<<\($1.offset)>>", with: $1.element) }
    }

    private func write(_ text: String, to file: String) throws {
        try folder.makeFolder(file.split(separator: "/").dropLast().joined(separator: "/"))
        var path = ""
        for part in file.split(separator: "/").dropLast() {
            path += (path.isEmpty ? "" : "/") + part
            chmod(folder.file(path), 0o700)
        }
        try folder.write(text, to: file)
        chmod(folder.file(file), 0o600)
    }
}
