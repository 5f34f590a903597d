// SPDX-License-Identifier: Apache-2.0
import RainCore
import Foundation
import Glibc
import Synchronization

/// A folder for one test, mode 0700, removed with everything in it when the value is let go.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        var template = Array("/tmp/rainkit-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ProcessError("no temporary folder: \(systemErrorText(errno))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    private static let leftToExit = Mutex<[String]>([])

    /// Has it removed when the process exits: for one that all tests of a process share, and that nobody lets go of.
    public func removeAtExit() {
        let isFirst = Self.leftToExit.withLock { paths in
            paths.append(path)
            return paths.count == 1
        }
        guard isFirst else { return }
        atexit {
            for path in TemporaryFolder.leftToExit.withLock({ $0 }) {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
    }

    public func file(_ name: String) -> String { path + "/" + name }

    public func write(_ text: String, to name: String) throws {
        guard let stream = fopen(file(name), "we") else {
            throw ProcessError("\(file(name)) cannot be written: \(systemErrorText(errno))")
        }
        defer { fclose(stream) }
        fputs(text, stream)
    }

    /// Writes a file that nobody else may read, in the place of what was in it.
    public func writePrivately(_ bytes: [UInt8], to name: String) {
        // A new file: ext4 brings what replaces a file's content to the disk at once, which thousands of times takes long.
        unlink(file(name))
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    /// Makes a folder in it, and those it lies in.
    public func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    }

    public func read(_ name: String) throws -> String { try readFile(file(name)) }

    public func readBytes(_ name: String) throws -> [UInt8] { try readFileBytes(file(name)) }
}

/// Makes a folder for `body` and removes it afterwards.
public func withTemporaryFolder<Result>(_ body: (TemporaryFolder) async throws -> Result) async throws -> Result {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    return try await body(folder)
}

/// The names in a folder, in their order.
public func files(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
}

/// The whole text of a file.
public func readFile(_ path: String) throws -> String { String(decoding: try readFileBytes(path), as: UTF8.self) }

/// All bytes of a file.
public func readFileBytes(_ path: String) throws -> [UInt8] {
    guard let stream = fopen(path, "re") else {
        throw ProcessError("\(path) cannot be read: \(systemErrorText(errno))")
    }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&buffer, 1, buffer.count, stream)
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
    }
}
