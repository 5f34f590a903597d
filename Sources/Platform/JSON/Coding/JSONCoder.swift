// SPDX-License-Identifier: Apache-2.0

/// `Codable` models to and from JSON, without Foundation.
///
/// ```swift
/// struct Reply: Codable { var status: String }
/// let reply = try JSONCoder.decode(Reply.self, from: response.body)
/// ```
public enum JSONCoder {
    /// Parses `text` and decodes it. A member that the model does not name is ignored.
    public static func decode<Model: Decodable>(
        _ type: Model.Type, from text: [UInt8], limits: JSONLimits = .default
    ) throws(JSONError) -> Model {
        try decode(type, from: JSONValue(parsing: text, limits: limits))
    }

    /// Decodes a value that was parsed before.
    public static func decode<Model: Decodable>(
        _ type: Model.Type, from value: JSONValue
    ) throws(JSONError) -> Model {
        do {
            return try JSONValueDecoder(value: value, codingPath: []).decode(type)
        } catch let error as DecodingError {
            throw JSONError(error)
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError(.typeMismatch, "\(type) cannot be read from this JSON")
        }
    }

    /// The model as JSON text. Members stand in the order in which the model encodes them.
    public static func encode(_ model: some Encodable) throws(JSONError) -> [UInt8] {
        try value(of: model).serialized()
    }

    /// The model as a value, to add to it or to print it prettily.
    public static func value(of model: some Encodable) throws(JSONError) -> JSONValue {
        do {
            let node = JSONNode()
            try JSONValueEncoder(node: node, codingPath: []).encode(model)
            return node.value
        } catch let error as EncodingError {
            throw JSONError(error)
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError(.unencodable, "\(type(of: model)) cannot be written as JSON")
        }
    }
}

extension JSONError {
    /// Keeps the path and drops the rest: a debug description may quote the value.
    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missing, "\(path(context.codingPath + [key])) is missing")
        case .valueNotFound(let type, let context):
            self.init(.missing, "\(path(context.codingPath)) is null and should be \(words(for: type))")
        case .typeMismatch(let type, let context):
            self.init(.typeMismatch, "\(path(context.codingPath)) is not \(words(for: type))")
        case .dataCorrupted(let context):
            self.init(.typeMismatch, "\(path(context.codingPath)) has a value that is not accepted")
        @unknown default: self.init(.typeMismatch, "the JSON does not fit")
        }
    }

    init(_ error: EncodingError) {
        guard case .invalidValue(_, let context) = error else {
            self.init(.unencodable, "the value cannot be written as JSON")
            return
        }
        self.init(.unencodable, "\(path(context.codingPath)) cannot be written as JSON")
    }
}

/// A Swift type, as people call it in JSON.
private func words(for type: Any.Type) -> String {
    switch "\(type)" {
    case "String": "text"
    case "Bool": "true or false"
    case let name where ["Int", "UInt", "Double", "Float"].contains { name.hasPrefix($0) }: "a number"
    case let name where name.hasPrefix("Array<") || name == "UnkeyedDecodingContainer": "a list"
    default: "an object"
    }
}

private func path(_ keys: [any CodingKey]) -> String {
    guard !keys.isEmpty else { return "the JSON text" }
    var path = ""
    for key in keys {
        if let index = key.intValue {
            path += "[\(index)]"
        } else {
            path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
        }
    }
    return path
}

/// A position in an array, or a name that no model declared.
struct JSONKey: CodingKey {
    var stringValue: String
    var intValue: Int?

    init(stringValue: String) { self.stringValue = stringValue }
    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    static let `super` = JSONKey(stringValue: "super")
}
