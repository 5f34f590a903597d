// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

extension RainMakerAccount {
    /// The service takes up to 399 KB of custom data.
    private static let maximumBytes = 399 << 10

    /// All values that applications keep with the signed-in user's account.
    public func customData() async throws(AccountError) -> RainMakerCustomData {
        guard let data = RainMakerCustomData(try await call(RainMakerCall(.get, "user/custom_data"))) else {
            throw service.incomplete("an object")
        }
        return data
    }

    /// Keeps a value under its key. Other keys stay as they are.
    ///
    /// The cloud merges: of an object, the members that are not named stay as they were, and one that is `null` goes. Anything else takes
    /// the place of what was there. To replace an object whole, remove its key first (``removeCustomData(_:)``).
    public func setCustomData(_ entry: RainMakerCustomData.Entry) async throws(AccountError) {
        try Self.check(key: entry.key)
        var members: [JSONValue.Member] = [.init("value", entry.value ?? .null)]
        if !entry.permissions.isEmpty { members.append(.init("perms", .array(entry.permissions))) }
        let body = JSONValue.object([.init(entry.key, .object(members))])
        guard body.serialized().count <= Self.maximumBytes else {
            throw AccountError(.invalidInput, message: "custom data has at most 399 KB")
        }
        try await call(RainMakerCall(.put, "user/custom_data", body: body))
    }

    /// Removes a key with its value. One that is not there is no error.
    public func removeCustomData(_ key: String) async throws(AccountError) {
        try Self.check(key: key)
        try await call(RainMakerCall(.put, "user/custom_data", body: .object([.init(key, .null)])))
    }

    private static func check(key: String) throws(AccountError) {
        guard !key.isEmpty else { throw AccountError(.invalidInput, message: "custom data needs a key") }
    }
}
