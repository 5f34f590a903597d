// SPDX-License-Identifier: Apache-2.0

/// A model may hold a `JSONValue` where a server puts anything.
extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        guard let json = decoder as? JSONValueDecoder else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a JSONValue is read by JSONCoder only"))
        }
        self = json.value
    }

    public func encode(to encoder: any Encoder) throws {
        guard let json = encoder as? JSONValueEncoder else {
            throw EncodingError.invalidValue(
                self,
                .init(codingPath: encoder.codingPath, debugDescription: "a JSONValue is written by JSONCoder only"))
        }
        json.node.value = self
    }
}
