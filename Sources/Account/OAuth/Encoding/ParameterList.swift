// SPDX-License-Identifier: Apache-2.0

/// The parameters of a request or a response, in their order, each name once (RFC 6749, section 3.1).
public struct ParameterList: Sendable, Equatable {
    /// More bytes than that are no OAuth message: the longest that are seen carry a token or two.
    public static let maximumBytes = 64 << 10
    /// No OAuth message has more parameters.
    public static let maximumCount = 64

    /// The names in their order.
    public private(set) var names: [String] = []
    private var values: [String] = []

    public init() {}

    /// Reads `name=value&…`. Empty pieces are skipped, a piece without `=` has an empty value.
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

    /// The value of that name; nil if it is not there.
    public subscript(name: String) -> String? { names.firstIndex(of: name).map { values[$0] } }

    /// Adds a parameter. Throws `tooLarge` beyond ``maximumCount``, `duplicate` for a name that is there already.
    public mutating func append(_ name: String, _ value: String) throws(OAuth2FormatError) {
        guard names.count < Self.maximumCount else {
            throw OAuth2FormatError(.tooLarge, "more than \(Self.maximumCount) parameters")
        }
        guard !names.contains(name) else {
            throw OAuth2FormatError(.duplicate, "a parameter is there twice")
        }
        names.append(name)
        values.append(value)
    }

    /// The parameters as they stand in a URL's query or fragment.
    public var query: String {
        zip(names, values).map { "\(FormEncoding.encodedForQuery($0))=\(FormEncoding.encodedForQuery($1))" }
            .joined(separator: "&")
    }
}
