// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One JSON document in a ``PrivateFile``. It is read whole, changed by one process at a time, and replaced whole or not at all.
///
/// Without a file the document is nil. Setting the document to nil removes the file. A file that has not changed since this process read it
/// is not read again.
public struct PrivateDocument<Content: Codable & Sendable>: Sendable {
    private let file: PrivateFile
    private let maximumBytes: Int
    /// The file's path, as given on creation.
    public var path: String { file.path }

    /// - Parameter maximumBytes: a longer file is neither read nor written.
    public init(path: String, maximumBytes: Int = 1 << 20) {
        file = PrivateFile(path: path)
        self.maximumBytes = maximumBytes
    }

    /// Returns the document; nil if there is no file.
    ///
    /// - Parameter failure: makes the error for a file that cannot be read, or is not such a document.
    public func load<Failure: Error>(
        orThrow failure: (PrivateDocumentError) -> Failure
    ) throws(Failure) -> Content? {
        do {
            return try load(ReadFiles.documents)
        } catch {
            throw failure(PrivateDocumentError(error, path: path))
        }
    }

    func load(_ known: ReadFiles) throws -> Content? {
        let (folder, name) = file.place
        guard let folder = try PrivateFolder.open(folder, create: false) else { return nil }
        let version = folder.version(of: name)
        if let version, let content = known.result(of: path, version) as? Content { return content }
        let content = try decoded(try folder.read(name, maximumBytes: maximumBytes))
        if let version, let content { known.keep(content, of: path, version) }
        return content
    }

    /// Lets `body` change the document while no other process can. An error of `body` is rethrown, and the file is not changed.
    ///
    /// - Parameter failure: makes the error for a file that cannot be read or written.
    public func change<Failure: Error>(
        orThrow failure: (PrivateDocumentError) -> Failure, _ body: (inout Content?) throws(Failure) -> Void
    ) throws(Failure) {
        var refusal: Failure?
        do {
            try file.update(maximumBytes: maximumBytes) { bytes in
                var content = try decoded(bytes)
                do throws(Failure) {
                    try body(&content)
                } catch {
                    refusal = error
                    throw error
                }
                return (try content.map { try JSONCoder.encode($0) }, ())
            }
        } catch {
            throw refusal ?? failure(PrivateDocumentError(error, path: path))
        }
    }

    private func decoded(_ bytes: [UInt8]?) throws -> Content? {
        guard let bytes else { return nil }
        let json = try JSONValue(parsing: bytes)
        // A change by this program would lose the members that the newer version added.
        if let version = json["schemaVersion"]?.integer, version > 1 { throw NewerDocument(version: version) }
        return try JSONCoder.decode(Content.self, from: json)
    }
}

/// A newer version of the program wrote the document.
struct NewerDocument: Error, CustomStringConvertible {
    let version: Int64
    var description: String {
        "a newer version of this program wrote this file (format \(version))"
    }
}

/// Why a document could not be read or changed. Its description is that of the cause.
public struct PrivateDocumentError: Error, Sendable, CustomStringConvertible {
    /// Whether the document could not be read or could not be stored.
    public enum Code: Sendable {
        /// There is a file, but it cannot be read or is not such a document.
        case unreadable
        /// The document cannot be stored.
        case unwritable
    }

    /// Whether reading or storing failed; ``cause`` has the reason.
    public var code: Code
    /// The path of the document's file.
    public var path: String
    /// A ``PrivateFileError``, or an error in the JSON.
    public var cause: any Error

    init(_ cause: any Error, path: String) {
        self.path = path
        self.cause = cause
        let file = cause as? PrivateFileError
        code = file.map { [.unwritable, .openFolder, .locked].contains($0.code) } ?? false ? .unwritable : .unreadable
    }

    public var description: String { "\(cause)" }

    /// Whether a newer version of the program wrote the document.
    public var isNewer: Bool { cause is NewerDocument }
}
