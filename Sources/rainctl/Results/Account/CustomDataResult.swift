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
