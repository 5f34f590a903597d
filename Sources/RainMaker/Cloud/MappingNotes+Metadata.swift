// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON

extension MappingNotes {
    /// The metadata as JSON; nil where there are none.
    func metadataObject() throws(AccountError) -> JSONValue? {
        guard let text = metadata else { return nil }
        guard let object = try? JSONValue(parsing: Array(text.utf8)), object.members != nil else {
            throw AccountError(.invalidConfiguration, message: "the metadata is not a JSON object")
        }
        return object
    }
}

func lowercaseHex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
