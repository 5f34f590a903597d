// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerAccount {
    /// Everything that the cloud says about the signed-in user.
    /// - Parameter customData: whether to ask for the custom data, too, which may be some hundred kilobytes.
    public func user(customData: Bool = false) async throws(AccountError) -> RainMakerUser {
        let query = customData ? [(name: "custom_data", value: "true")] : []
        guard let user = RainMakerUser(try await call(RainMakerCall(.get, "user2", query: query))) else {
            throw service.incomplete("user_id")
        }
        return user
    }

    /// Makes one change after the other, as the cloud takes them. All are checked before the first is sent; when the cloud refuses
    /// one, those before it have been made.
    public func update(_ changes: [Change]) async throws(AccountError) {
        for change in changes { try change.check() }
        for change in changes { try await call(RainMakerCall(.put, "user2", body: change.body)) }
    }
}
