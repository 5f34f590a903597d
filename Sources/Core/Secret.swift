// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Bytes that nobody may see: a password, a token, a proof of possession.
///
/// A `Secret` cannot be printed, dumped or interpolated. Its bytes are readable only inside ``reveal(_:)``, and are overwritten when the
/// last copy is released. They stay out of swap if the limit on locked memory allows it. A comparison takes the same time wherever the
/// bytes differ.
public struct Secret: Sendable {
    private let storage: Storage

    /// Copies the bytes. The caller has to overwrite the original, if there is one.
    public init(_ bytes: some Sequence<UInt8>) {
        storage = Storage(Array(bytes))
    }

    /// Copies the UTF-8 bytes of the text. The text itself is not overwritten: read secrets as bytes if possible.
    public init(_ text: String) {
        self.init(text.utf8)
    }

    /// The number of bytes. Lengths do not count as secret.
    public var count: Int { storage.buffer.count }
    /// Whether there are no bytes, as in the passphrase of an open network.
    public var isEmpty: Bool { count == 0 }

    /// Passes the bytes to `body`. Do not keep them, or copies of them, after the call.
    public func reveal<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(storage.buffer))
    }

    /// Returns the bytes as an array, for code that must pass them on (a cipher, a request body).
    public func revealBytes() -> [UInt8] { Array(storage.buffer) }

    /// Returns the bytes as UTF-8 text, for code that must pass it on. Invalid sequences are repaired.
    public func revealString() -> String { String(decoding: storage.buffer, as: UTF8.self) }

    /// Owns the memory, so that it is overwritten exactly once. It is `@unchecked` because the buffer never changes after `init`.
    private final class Storage: @unchecked Sendable {
        let buffer: UnsafeMutableBufferPointer<UInt8>

        init(_ bytes: [UInt8]) {
            buffer = .allocate(capacity: bytes.count)
            _ = buffer.initialize(from: bytes)
            // Beyond RLIMIT_MEMLOCK the kernel refuses, and the secret may be swapped. It is never unlocked, because its pages hold other
            // secrets too.
            if let base = buffer.baseAddress, !bytes.isEmpty { _ = mlock(base, bytes.count) }
        }

        deinit {
            overwriteWithZeros(buffer)
            buffer.deallocate()
        }
    }
}

extension Secret: Equatable {
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<left.count { difference |= left.storage.buffer[index] ^ right.storage.buffer[index] }
        return difference == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

private func overwriteWithZeros(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
    buffer.update(repeating: 0)
    mayRead(buffer)
}

/// Keeps the compiler from removing the stores before `deallocate` as dead. It is never inlined or optimized, so the compiler must assume
/// that it reads the bytes.
@inline(never)
@_optimize(none)
private func mayRead(_ buffer: UnsafeMutableBufferPointer<UInt8>) {}

extension Secret {
    /// Returns a sentence about something unusual in the secret, for the error of a service that refused it. Returns nil if there is
    /// nothing unusual. It does not quote the secret.
    ///
    /// - Parameter name: the secret's name in the sentence, such as `Wi-Fi password`.
    public func remark(as name: String) -> String? {
        let text = revealString()
        guard reveal({ String(validating: $0, as: UTF8.self) }) != nil else {
            return "The given \(name) is not UTF-8 text (perhaps it is Latin-1). Save its file as UTF-8."
        }
        if text.first == "{", text.last == "}" {
            return "The given \(name) is JSON text; give only the \(name)."
        }
        if text.unicodeScalars.isAssignment {
            return "The given \(name) has the form NAME=value; give only the value."
        }
        if let first = text.first, let last = text.last, text.utf8.count >= 2, GivenText.quotes[first] == last {
            return "The given \(name) is in quotation marks, which were sent as a part of it."
        }
        let ends = [("begins", text.unicodeScalars.first), ("ends", text.unicodeScalars.last)]
            .compactMap { (verb, scalar) -> String? in scalar.map(Self.isBlank) == true ? verb : nil }
        if !ends.isEmpty {
            return
                "The given \(name) \(ends.joined(separator: " and ")) with white space, which was sent as a part of it."
        }
        if text.hasSuffix("\\n") || text.hasSuffix("\\r") {
            return "The given \(name) ends with a backslash and a letter, which were sent as a part of it."
        }
        return nil
    }

    /// Whether the character is white space or has no width.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x20, 0xA0, 0x2000...0x200F, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF: true
        default: false
        }
    }
}

extension String {
    /// Returns this message, with the remark as the cause in its first sentence: `It failed: the remark. Try again.`
    ///
    /// - Parameter remark: a sentence that begins with an article, such as a secret's ``Secret/remark(as:)``. With nil the message does not
    ///   change.
    package func because(of remark: String?) -> String {
        guard let remark else { return self }
        // Marks inside a name that the message quotes do not count.
        let marks: [String] = [": ", ". "]
        let ends: [Range<String.Index>] = marks.flatMap { ranges(of: $0) }.filter { range in
            self[..<range.lowerBound].count(where: { $0 == "\"" }).isMultiple(of: 2)
        }
        let end = ends.min { $0.lowerBound < $1.lowerBound }
        let event = end.map { self[..<$0.lowerBound] } ?? (last == "." ? dropLast() : self[...])
        let rest = end.map { self[$0.upperBound...] } ?? ""
        let cause = remark.prefix(1).lowercased() + remark.dropFirst()
        guard let first = rest.first else { return "\(event): \(cause)" }
        return "\(event): \(cause) \(first.uppercased())\(rest.dropFirst())"
    }
}

extension String.UnicodeScalarView {
    /// Whether this is a line of a file of variables: `NAME=value`, `export NAME=value`. Base64 padding does not count.
    fileprivate var isAssignment: Bool {
        guard let sign = firstIndex(of: "=") else { return false }
        var name = self[..<sign]
        if name.starts(with: "export ".unicodeScalars) { name = name.dropFirst(7) }
        let value = self[index(after: sign)...]
        guard let first = name.first, !("0"..."9").contains(first), let start = value.first, start != "=" else {
            return false
        }
        return name.allSatisfy {
            switch $0 {
            case "_", "a"..."z", "A"..."Z", "0"..."9": true
            default: false
            }
        }
    }
}

/// The short text printed on a board or shown in its QR code. It proves that the person who enters it has the board.
///
/// Security 1 mixes it into the session key. Security 2 uses it as the password of SRP-6a.
public struct ProofOfPossession: Sendable, Equatable {
    /// The bytes for the handshake.
    public let secret: Secret
    public init(_ secret: Secret) { self.secret = secret }
    /// Creates a proof of possession from text. The handshake uses its UTF-8 bytes.
    public init(_ text: String) { self.secret = Secret(text) }
}

extension ProofOfPossession: ExpressibleByStringLiteral {
    /// Creates a value for examples and tests. Read a real one from a file or a label.
    public init(stringLiteral value: String) { self.init(value) }
}

/// The secret that user and node both send to the cloud, which then maps the node to the user (`secret_key`).
public struct MappingSecret: Sendable, Equatable {
    /// The text that the board and the cloud receive, in UTF-8.
    public let secret: Secret

    public init(_ secret: Secret) { self.secret = secret }

    /// Creates a secret in the form that every client uses: a version 4 UUID (RFC 9562, 5.4) from 16 random bytes.
    public init(randomBytes: [UInt8]) { secret = Secret(Hex.uuid(randomBytes: randomBytes)) }
}
