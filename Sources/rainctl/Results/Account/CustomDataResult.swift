// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// All values that applications keep with the account, in the cloud's order.
struct CustomDataResult: CommandResult {
    let data: JSONValue

    var text: String { data.readable }
}

extension CustomDataResult {
    init(_ data: RainMakerCustomData) {
        self.init(data: .object(data.entries.map { .init($0.key, $0.value ?? .null) }))
    }
}

/// The value under one key.
struct CustomDataValueResult: CommandResult {
    let key: String
    let value: JSONValue

    var text: String { value.readable }
}

extension CustomDataValueResult {
    init(_ entry: RainMakerCustomData.Entry) { self.init(key: entry.key, value: entry.value ?? .null) }
}

extension JSONValue {
    /// JSON on several lines. What a terminal could obey is escaped, as JSON lets it be; C0 controls are escaped already.
    fileprivate var readable: String {
        String(decoding: serialized(pretty: true), as: UTF8.self).unicodeScalars.reduce(into: "") { text, scalar in
            if (0x7F...0x9F).contains(scalar.value) {
                text += "\\u00" + String(scalar.value, radix: 16)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
