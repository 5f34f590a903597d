// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Parameters for an endpoint that takes a form (RFC 6749, appendix B), in their order. Values may be secrets.
public struct FormRequest: Sendable, Equatable {
    /// A name and a value.
    public typealias Field = TokenRequest.Field

    /// What the request's `Content-Type` header says.
    public static let contentType = TokenRequest.contentType

    /// In the order of sending.
    public var fields: [Field]

    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Puts a field behind all others.
    public mutating func append(_ name: String, _ value: String) { fields.append(Field(name, value)) }

    /// Puts a field in the place of one of the same name, or behind all others.
    public mutating func set(_ name: String, _ value: Secret) {
        if let index = fields.firstIndex(where: { $0.name == name }) {
            fields[index].value = value
        } else {
            fields.append(Field(name, value))
        }
    }

    /// The form as a body, or as a query where a server wants that, the client's own fields behind the others.
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
