// SPDX-License-Identifier: Apache-2.0

/// The parameters of an OAuth request: each at most once (RFC 6749, 3.1 and 3.2), an empty one counting as absent.
struct OAuthParameters {
    private var fields: [String: String] = [:]

    init(_ fields: [Request.Field]) throws(OAuthFailure) {
        for field in fields where !field.value.isEmpty {
            guard self.fields.updateValue(field.value, forKey: field.name) == nil else {
                throw OAuthFailure(.invalidRequest, "A parameter is given twice")
            }
        }
    }

    /// Of a body that is `application/x-www-form-urlencoded`.
    init(form request: Request) throws(OAuthFailure) {
        let type = request.header("Content-Type")?.split(separator: ";").first?.lowercased() ?? ""
        guard type.trimmingSpaces() == "application/x-www-form-urlencoded" else {
            throw OAuthFailure(.invalidRequest, "The body must be application/x-www-form-urlencoded")
        }
        guard request.body.count <= 16 << 10 else { throw OAuthFailure(.invalidRequest, "The body is too long") }
        let text = String(decoding: request.body, as: UTF8.self)
        try self.init(Request.fields(ofQuery: Substring(text)))
    }

    subscript(name: String) -> String? { fields[name] }

    func required(_ name: String) throws(OAuthFailure) -> String {
        guard let value = fields[name] else { throw OAuthFailure(.invalidRequest, "\(name) is missing") }
        return value
    }
}

extension StringProtocol {
    func trimmingSpaces() -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let rest = drop(while: isSpace)
        return String(String(rest.reversed().drop(while: isSpace)).reversed())
    }
}

/// `name=value&…`, everything but RFC 3986's unreserved characters quoted.
func formEncoded(_ fields: [Request.Field]) -> String {
    fields.map { "\(percentEncoded($0.name))=\(percentEncoded($0.value))" }.joined(separator: "&")
}

func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            encoded.unicodeScalars.append(Unicode.Scalar(byte))
        default: encoded += "%" + lowercaseHex([byte]).uppercased()
        }
    }
    return encoded
}
