// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension CloudAPI {
    /// Largest custom data of a user, as JSON, in bytes.
    static let maximumCustomData = 399 << 10

    /// `GET user/custom_data`.
    func customData(_ call: Call) throws(APIError) -> Response { Response(try call.caller().customData) }

    /// `PUT user/custom_data`: `{"key":{"value":…,"perms":[…]}}`; null deletes the key, a null value the value.
    func setCustomData(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let changes = try call.body().value.members ?? []
        guard !changes.isEmpty else { throw .nothingToUpdate }
        for change in changes {
            guard !change.name.isEmpty, change.name.utf8.count <= 256 else { throw .invalidBody }
            guard change.value.isNull || change.value.members != nil else { throw .invalidBody }
            if let perms = change.value["perms"], !perms.isNull, perms.array == nil { throw .invalidBody }
        }
        let isTooLarge = try change { state -> Bool in
            var members = state.users[user.id]?.customData.members ?? []
            for change in changes { members.apply(change) }
            let merged = JSONValue.object(members)
            guard merged.serialized().count <= Self.maximumCustomData else { return true }
            state.users[user.id]?.customData = merged
            return false
        }
        guard !isTooLarge else { throw .invalidRequest }
        return success("Custom data updated successfully")
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

extension [JSONValue.Member] {
    /// One change to custom data.
    fileprivate mutating func apply(_ change: JSONValue.Member) {
        let index = firstIndex { $0.name == change.name }
        guard let new = change.value.members else {
            if let index { remove(at: index) }
            return
        }
        var members = index.flatMap { self[$0].value.members } ?? []
        for member in new {
            members.removeAll { $0.name == member.name }
            if !member.value.isNull { members.append(member) }
        }
        if let index { self[index].value = .object(members) } else { append(.init(change.name, .object(members))) }
    }
}
