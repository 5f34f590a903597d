// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension CloudAPI {
    /// Largest custom data of a user, as JSON, in bytes.
    static let maximumCustomData = 399 << 10

    /// `GET user/custom_data`.
    func customData(_ call: Call) throws(APIError) -> Response { Response(try call.caller().customData) }

    /// `PUT user/custom_data`: `{"key":{"value":…,"perms":[…]}}`, merged with what is there, member by member of an object; null takes a
    /// key, a value or a member away. The answer is the data as it is then.
    func setCustomData(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let changes = try call.body().value.members ?? []
        guard !changes.isEmpty else { throw .nothingToUpdate }
        for change in changes {
            guard !change.name.isEmpty, change.name.utf8.count <= 256 else { throw .invalidBody }
            guard change.value.isNull || change.value.members != nil else { throw .invalidBody }
            if let perms = change.value["perms"], !perms.isNull, perms.array == nil { throw .invalidBody }
        }
        let kept = try change { state -> JSONValue? in
            let merged = (state.users[user.id]?.customData ?? .object([])).merged(with: .object(changes))
            guard merged.serialized().count <= Self.maximumCustomData else { return nil }
            state.users[user.id]?.customData = merged
            return merged
        }
        guard let kept else { throw .dataTooLarge }
        return Response(kept)
    }

    // MARK: public profile

    /// `GET user/public_profile`: the caller's, or of the user that is named.
    func publicProfile(_ call: Call) throws(APIError) -> Response {
        var user = try call.caller()
        if let name = call.request.query("user_name") {
            guard let other = readState({ $0.user(named: name) }), other.isConfirmed else { throw .userMissing }
            user = other
        }
        return Response(["user_name": .string(user.userName), "profile": user.publicProfile ?? .object([])])
    }

    /// `PUT user/public_profile`: null takes it away.
    func setPublicProfile(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        guard let profile = try call.body().value["profile"] else { throw .nothingToUpdate }
        guard profile.isNull || profile.members != nil else { throw .invalidBody }
        guard profile.serialized().count <= 32 << 10 else { throw .invalidRequest }
        // `nil` alone would be JSON's null.
        let kept: JSONValue? = profile.isNull ? Optional.none : profile
        try change { $0.users[user.id]?.publicProfile = kept }
        return success("Public profile updated successfully")
    }
}

extension User {
    /// The tags that a node gets which is mapped without any: of the user's place, the members whose names begin with `esp`.
    var placeTags: [String] {
        (customData["esp.location"]?["value"]?.members ?? []).compactMap { member in
            guard member.name.hasPrefix("esp"), let text = member.value.string, !text.isEmpty else { return nil }
            return "\(member.name):\(text)"
        }
    }
}
