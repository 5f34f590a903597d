// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The parameters for an endpoint that accepts a form (RFC 6749, appendix B), in their order. Values may be secrets.
public struct FormRequest: Sendable, Equatable {
    /// A name and a value.
    public typealias Field = TokenRequest.Field

    /// The value of the request's `Content-Type` header.
    public static let contentType = TokenRequest.contentType

    /// The fields, in the order of sending.
    public var fields: [Field]

    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Adds a field at the end.
    public mutating func append(_ name: String, _ value: String) { fields.append(Field(name, value)) }

    /// Replaces the field of the same name, or adds one at the end.
    public mutating func set(_ name: String, _ value: Secret) {
        if let index = fields.firstIndex(where: { $0.name == name }) {
            fields[index].value = value
        } else {
            fields.append(Field(name, value))
        }
    }

    /// Returns the form as a body, or as a query if a server needs that. The client's own fields come last.
    public func body(for client: ClientAuthentication) -> Secret {
        var bytes: [UInt8] = []
        for field in fields + client.fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes += FormEncoding.encoded(field.name.utf8)
            bytes.append(UInt8(ascii: "="))
            field.value.reveal { bytes += FormEncoding.encoded($0) }
        }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        return Secret(bytes)
    }
}

/// `application/x-www-form-urlencoded`, as OAuth 2.0 uses it in queries and bodies (RFC 6749, appendix B).
public enum FormEncoding {
    /// Returns a name or a value for a body: a space becomes `+`, and all but letters, digits and `*-._` is escaped.
    public static func encoded(_ text: String) -> String {
        String(decoding: encoded(text.utf8), as: UTF8.self)
    }

    static func encoded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        PercentEncoding.encoded(bytes) { byte in
            if byte == UInt8(ascii: " ") { return UInt8(ascii: "+") }
            return byte.isASCIILetterOrDigit || "*-._".utf8.contains(byte) ? byte : nil
        }
    }

    /// Returns a name or a value for a URL's query: all but RFC 3986's unreserved characters is escaped, and a space becomes `%20`. A form
    /// parser and a query parser read it the same.
    public static func encodedForQuery(_ text: String) -> String {
        PercentEncoding.encoded(text)
    }

    /// Returns the unescaped text; nil if an escape is incomplete or not hexadecimal, or if the result is not UTF-8.
    public static func decoded(_ text: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(Hex.value), let low = rest.next().flatMap(Hex.value) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

}

/// Whether the byte is allowed in codes, tokens, states and client ids (RFC 6749, appendix A).
func isVisible(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

/// The parameters of a request or a response, in their order, each name once (RFC 6749, section 3.1).
public struct ParameterList: Sendable, Equatable {
    /// The maximum size in bytes. The longest real OAuth messages contain one or two tokens.
    public static let maximumBytes = 64 << 10
    /// The maximum number of parameters. Real OAuth messages have fewer.
    public static let maximumCount = 64

    /// The names, in order.
    public private(set) var names: [String] = []
    private var values: [String] = []

    public init() {}

    /// Reads `name=value&…`. Empty pieces are skipped, and a piece without `=` has an empty value.
    public init(parsing text: some Collection<UInt8>) throws(OAuth2FormatError) {
        guard text.count <= Self.maximumBytes else {
            throw OAuth2FormatError(.tooLarge, "more than \(Self.maximumBytes) bytes of parameters")
        }
        for piece in text.split(separator: UInt8(ascii: "&")) {
            let end = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            let value = end == piece.endIndex ? piece[end...] : piece[piece.index(after: end)...]
            guard let name = FormEncoding.decoded(piece[..<end]), let value = FormEncoding.decoded(value) else {
                throw OAuth2FormatError(.malformed, "a parameter is not properly escaped UTF-8")
            }
            try append(name, value)
        }
    }

    /// The value of that name; nil if it is missing.
    public subscript(name: String) -> String? { names.firstIndex(of: name).map { values[$0] } }

    /// Adds a parameter. Throws `tooLarge` beyond ``maximumCount``, `duplicate` for a name that exists already.
    public mutating func append(_ name: String, _ value: String) throws(OAuth2FormatError) {
        guard names.count < Self.maximumCount else {
            throw OAuth2FormatError(.tooLarge, "more than \(Self.maximumCount) parameters")
        }
        guard !names.contains(name) else {
            throw OAuth2FormatError(.duplicate, "a parameter appears twice")
        }
        names.append(name)
        values.append(value)
    }

    /// The parameters in the form of a URL's query or fragment.
    public var query: String {
        zip(names, values).map { "\(FormEncoding.encodedForQuery($0))=\(FormEncoding.encodedForQuery($1))" }
            .joined(separator: "&")
    }
}
