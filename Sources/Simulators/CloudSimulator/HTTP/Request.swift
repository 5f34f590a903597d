// SPDX-License-Identifier: Apache-2.0

/// One HTTP request, whole and within its bounds.
public struct Request: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        public var name: String
        public var value: String
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public var method: String
    /// As it was sent, without the query.
    public var path: String
    /// Percent-decoded, in order. Empty parts (`?&a=b`, as the official client sends it) are skipped.
    public var query: [Field]
    public var headers: [Field]
    public var body: [UInt8]
    /// Whether the connection stays open for another request.
    public var keepsConnection: Bool

    public init(
        method: String, target: String, headers: [Field] = [], body: [UInt8] = [], keepsConnection: Bool = true
    ) {
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        query = parts.count > 1 ? Self.fields(ofQuery: parts[1]) : []
        self.headers = headers
        self.body = body
        self.keepsConnection = keepsConnection
    }

    /// The first header of that name, which is compared without regard to case.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }

    /// The first query value of one of those names; nil also when it is empty.
    public func query(_ names: String...) -> String? {
        query.first { names.contains($0.name) && !$0.value.isEmpty }?.value
    }

    static func fields(ofQuery text: Substring) -> [Field] {
        text.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Field(percentDecoded(pair[0]), pair.count > 1 ? percentDecoded(pair[1]) : "")
        }
    }
}

/// `+` is a space, `%41` an A; a percent sign without two hex digits stands for itself.
func percentDecoded(_ text: Substring) -> String {
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    var index = 0
    while index < source.count {
        let byte = source[index]
        if byte == UInt8(ascii: "%"), index + 2 < source.count,
            let high = hexDigit(source[index + 1]), let low = hexDigit(source[index + 2])
        {
            bytes.append(high << 4 | low)
            index += 3
        } else {
            bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            index += 1
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
