// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension CloudAPI {
    /// `GET user2`: members that are not set are absent.
    func profile(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        var members: [JSONValue.Member] = [
            .init("user_id", .string(user.id)), .init("user_name", .string(user.userName)),
            .init("mfa", .bool(user.needsSecondStep)),
        ]
        if user.isSuperAdmin { members.append(.init("super_admin", true)) }
        if let name = user.name { members.append(.init("name", .string(name))) }
        let isPhone = user.userName.hasPrefix("+")
        if let phone = isPhone ? user.userName : user.phone { members.append(.init("phone_number", .string(phone))) }
        if !isPhone { members.append(.init("email", .string(user.userName))) }
        if !user.tags.isEmpty { members.append(.init("tags", .array(user.tags.map { .string($0) }))) }
        if let locale = user.locale { members.append(.init("locale", .string(locale))) }
        if call.request.query("custom_data") == "true", user.customData != .object([]) {
            members.append(.init("custom_data", user.customData))
        }
        if let end = user.guestUntil {
            members += [
                .init("admin_tags", ["user_type:guest"]), .init("is_guest_user", true),
                .init("expires_on", .integer(end / 1000)),
            ]
        }
        return Response(.object(members))
    }

    /// `PUT user2`: one change per call.
    func updateProfile(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        let intents = [
            "name", "phone_number", "verification_code", "mfa", "tags_verification_code", "tags", "locale",
        ].filter { body.has($0) }
        // A body with an operation but no tags is a malformed change of tags.
        guard let intent = intents.first ?? (body.has("operation") ? "tags" : nil) else { throw .nothingToUpdate }
        guard intents.count <= 1 else { throw .invalidBody }
        var description = "User updated successfully"
        switch intent {
        case "name": try setName(try body.string("name") ?? "", user)
        case "phone_number":
            try requestPhone(try body.string("phone_number") ?? "", user)
            description = "Verification code sent"
        case "verification_code": try confirmPhone(try body.code() ?? "", user)
        case "mfa": try setSecondStep(try body.bool("mfa") ?? false, user)
        case "tags": try changeTags(try body.string("operation"), try body.userTags(), user)
        case "locale": try setLocale(try body.string("locale") ?? "", user)
        // No call of the API sends a code for tags, so none can be right.
        default: throw .wrongCode
        }
        journal.account("updated", user: user.userName, kind: intent)
        return success(description)
    }

    private func setName(_ name: String, _ user: User) throws(APIError) {
        guard (1...256).contains(name.count) else { throw .badName }
        try change { $0.users[user.id]?.name = name }
    }

    /// The number takes effect once its code was entered.
    private func requestPhone(_ phone: String, _ user: User) throws(APIError) {
        guard AccountRules.isPhone(phone) else { throw .badPhone }
        guard !readState({ $0.hasPhone(phone, beside: user.id) }) else { throw .phoneTaken }
        try sendCode(to: phone, for: .phone, holder: user.id, userID: user.id, target: phone)
    }

    private func confirmPhone(_ code: String, _ user: User) throws(APIError) {
        let refusals = CodeRefusals(
            wrong: .wrongPhoneCode, expired: .wrongPhoneCode,
            missing: user.phone == nil ? .phoneMissing : .phoneVerified)
        try redeem(code, for: .phone, holder: user.id, refusals: refusals) {
            state, pending in
            guard let phone = pending.target, !state.hasPhone(phone, beside: user.id) else { return .phoneTaken }
            state.users[user.id]?.phone = phone
            return nil
        }
    }

    private func setSecondStep(_ isOn: Bool, _ user: User) throws(APIError) {
        guard user.isSuperAdmin else { throw .notAllowed }
        guard user.phone != nil || user.userName.hasPrefix("+") else { throw .phoneMissing }
        try change { $0.users[user.id]?.needsSecondStep = isOn }
    }

    private func changeTags(_ operation: String?, _ tags: [String], _ user: User) throws(APIError) {
        switch operation {
        case "add":
            try change { state in
                let others = (state.users[user.id]?.tags ?? []).filter { !tags.contains($0) }
                state.users[user.id]?.tags = Array((others + tags).suffix(Self.maximumTags))
            }
        case "remove": try change { state in state.users[user.id]?.tags.removeAll { tags.contains($0) } }
        default: throw .badTagOperation
        }
    }

    /// The maximum number of a user's tags.
    private static let maximumTags = 64

    private func setLocale(_ locale: String, _ user: User) throws(APIError) {
        guard AccountRules.accepts(locale: locale) else { throw .badLocale }
        try change { $0.users[user.id]?.locale = locale }
    }
}

extension CloudState {
    /// Whether another user has that phone number, as the user name or as the phone number.
    fileprivate func hasPhone(_ phone: String, beside userID: String) -> Bool {
        users.all.contains { $0.id != userID && ($0.phone == phone || $0.userName == phone) }
    }
}

extension CloudAPI {
    /// The maximum size of a user's custom data as JSON, in bytes.
    static let maximumCustomData = 399 << 10

    /// `GET user/custom_data`.
    func customData(_ call: Call) throws(APIError) -> Response { Response(try call.caller().customData) }

    /// `PUT user/custom_data`: `{"key":{"value":…,"perms":[…]}}`. Objects are merged with the present data, member by member; null removes
    /// a key, a value or a member. The answer is the new data.
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

    // MARK: Public profile

    /// `GET user/public_profile`: the profile of the caller, or of the named user.
    func publicProfile(_ call: Call) throws(APIError) -> Response {
        var user = try call.caller()
        if let name = call.request.query("user_name") {
            guard let other = readState({ $0.user(named: name) }), other.isConfirmed else { throw .userMissing }
            user = other
        }
        return Response(["user_name": .string(user.userName), "profile": user.publicProfile ?? .object([])])
    }

    /// `PUT user/public_profile`: null removes it.
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
    /// The tags of a node that is mapped without tags: the members of the user's place whose names begin with `esp`.
    var placeTags: [String] {
        (customData["esp.location"]?["value"]?.members ?? []).compactMap { member in
            guard member.name.hasPrefix("esp"), let text = member.value.string, !text.isEmpty else { return nil }
            return "\(member.name):\(text)"
        }
    }
}

extension JSONValue {
    /// Merges an object's members one by one, as deep as both values are objects. Null removes a member. Any other value replaces the old
    /// one.
    func merged(with change: JSONValue) -> JSONValue {
        guard let changes = change.members else { return change }
        var members = members ?? []
        for change in changes {
            let index = members.firstIndex { $0.name == change.name }
            if change.value.isNull {
                if let index { members.remove(at: index) }
                continue
            }
            let value = (index.map { members[$0].value } ?? .null).merged(with: change.value)
            if let index { members[index].value = value } else { members.append(.init(change.name, value)) }
        }
        return .object(members)
    }
}

/// Calls of the phone apps for other purposes than the account.
extension CloudAPI {
    /// `user/push_notification/mobile_platform_endpoint`: the endpoints for this user's notifications.
    func pushEndpoint(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        switch call.request.method {
        case "POST":
            let body = try call.body()
            guard let platform = try body.string("platform"), ["GCM", "APNS", "APNS_SANDBOX"].contains(platform),
                let token = try body.string("mobile_device_token"), !token.isEmpty
            else { throw .invalidBody }
            let endpoint = PushEndpoint(
                platform: platform, deviceToken: token, arn: "arn:aws:sns:simulated:endpoint/\(platform)/\(makeUUID())")
            try change { state in
                let others = (state.users[user.id]?.pushEndpoints ?? []).filter { $0.deviceToken != token }
                state.users[user.id]?.pushEndpoints = (others + [endpoint]).suffix(32)
            }
            return Response(["platform_endpoint_arn": .string(endpoint.arn)])
        case "GET":
            let endpoints = user.pushEndpoints.map { endpoint -> JSONValue in
                [
                    "platform": .string(endpoint.platform), "mobile_device_token": .string(endpoint.deviceToken),
                    "platform_endpoint_arn": .string(endpoint.arn),
                ]
            }
            return Response(["platform_endpoints": .array(endpoints)])
        default:
            let (token, arn) = (call.request.query("mobile_device_token"), call.request.query("endpoint"))
            guard token != nil || arn != nil else { throw .invalidQuery }
            try change { state in
                state.users[user.id]?.pushEndpoints.removeAll { $0.deviceToken == token || $0.arn == arn }
            }
            return success("Platform endpoint deleted")
        }
    }

    /// `user/event_filter`: which events are switched off for this user. The simulator only keeps them, because it sends no push messages.
    func eventFilter(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let names = ["event_type", "entity_type", "entity_id"]
        guard call.request.method != "GET" else {
            guard names.contains(where: { call.request.query($0) != nil }) else { throw .invalidQuery }
            let found = (user.eventFilters ?? []).filter { filter in
                names.allSatisfy { name in
                    call.request.query(name).map { filter[name]?.string == $0 } ?? true
                }
            }
            return Response(.array(found))
        }
        let body = try call.body()
        guard let type = try body.string("event_type"), type.hasPrefix("rmaker.event."),
            let entity = try body.string("entity_type"), ["USER", "NODE", "System"].contains(entity)
        else { throw .invalidBody }
        let id = try body.string("entity_id") ?? ""
        let filter: JSONValue = [
            "event_type": .string(type), "entity_type": .string(entity), "entity_id": .string(id),
            "enabled": .bool(try body.bool("enabled") ?? true),
            "enabled_for_integrations": body.value["enabled_for_integrations"] ?? .array([]),
        ]
        guard filter.serialized().count <= 4096 else { throw .invalidBody }
        let isRemoval = call.request.method == "DELETE"
        try change { state in
            let others = (state.users[user.id]?.eventFilters ?? []).filter { kept in
                !names.allSatisfy { kept[$0] == filter[$0] }
            }
            state.users[user.id]?.eventFilters = Array((others + (isRemoval ? [] : [filter])).suffix(64))
        }
        return success("Event filter \(isRemoval ? "removed" : "stored")")
    }

    /// `POST user/data-requests`: the simulator has the data at once.
    func requestData(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        return success("Data requested", [.init("request_id", .string("data-\(user.id)"))])
    }

    /// `GET user/data-requests/{request_id}`.
    func requestedData(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        guard call.pathParameter == "data-\(user.id)" else { throw .invalidRequest }
        return Response(["presigned_url": .string("https://simulated.rainmaker.invalid/data/\(user.id)")])
    }
}

extension CloudAPI {
    /// `DELETE user2`: `?request=true` sends a code, `?verification_code=` deletes the account. A guest's account is deleted at once.
    func deleteAccount(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        try checkLocale(call)
        guard !user.isSuperAdmin else { throw .superAdminStays }
        if let code = call.request.query("verification_code") {
            let refusals = CodeRefusals(
                wrong: .wrongDeletionCode, expired: .deletionNotRequested, missing: .deletionNotRequested,
                exhausted: .deletionAttemptsExceeded)
            try redeem(code, for: .deletion, holder: user.id, refusals: refusals) { _, _ in nil }
            try remove(user)
            return success("User deleted successfully")
        }
        guard let request = call.request.query("request") else { throw .deletionCodeMissing }
        guard request == "true" else { throw .invalidQuery }
        guard !user.isGuest else {
            try remove(user)
            return success("User deleted successfully")
        }
        try sendCode(to: user.userName, for: .deletion, holder: user.id, userID: user.id)
        return success("Verification code sent")
    }

    private func remove(_ user: User) throws(APIError) {
        record(try change { $0.remove(userID: user.id) })
        journal.account("deleted", user: user.userName)
    }
}
