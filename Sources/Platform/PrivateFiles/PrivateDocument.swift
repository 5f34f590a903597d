// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One JSON document in a ``PrivateFile``: read whole, changed by one process at a time, replaced whole or not at all.
///
/// There is no document where there is no file: it is nil then, and a document that is made nil removes the file.
public struct PrivateDocument<Content: Codable & Sendable>: Sendable {
    private let file: PrivateFile
    private let maximumBytes: Int
    /// Where the file is, as given on creation.
    public var path: String { file.path }

    /// - Parameter maximumBytes: a longer file is neither read nor written.
    public init(path: String, maximumBytes: Int = 1 << 20) {
        file = PrivateFile(path: path)
        self.maximumBytes = maximumBytes
    }

    /// The document; nil where there is no file.
    ///
    /// - Parameter failure: what is thrown for a file that cannot be read, or is no such document.
    public func load<Failure: Error>(
        orThrow failure: (PrivateDocumentError) -> Failure
    ) throws(Failure) -> Content? {
        do {
            return try decoded(try file.read(maximumBytes: maximumBytes))
        } catch {
            throw failure(PrivateDocumentError(error, path: path))
        }
    }

    /// Lets `body` change the document while no other process can. An error of `body` is thrown as it is, and leaves the file alone.
    ///
    /// - Parameter failure: what is thrown for a file that cannot be read or written.
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
        // A change by this program would lose what the newer one added.
        if let version = json["schemaVersion"]?.integer, version > 1 { throw NewerDocument(version: version) }
        return try JSONCoder.decode(Content.self, from: json)
    }
}

/// A newer version of the program wrote the document.
struct NewerDocument: Error, CustomStringConvertible {
    let version: Int64
    var description: String {
        "a newer version of this program wrote it (format \(version), and this one reads format 1)"
    }
}

/// Why a document could not be read or changed. Its description is that of the cause.
public struct PrivateDocumentError: Error, Sendable, CustomStringConvertible {
    /// Whether the document could not be read or could not be stored.
    public enum Code: Sendable {
        /// There is a file, and it cannot be read or is no such document.
        case unreadable
        /// Nothing can be stored there.
        case unwritable
    }

    /// Which of the two failed; ``cause`` says why.
    public var code: Code
    /// Where the document's file is.
    public var path: String
    /// A ``PrivateFileError``, or what is wrong with the JSON.
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
