// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension CloudAPI {
    /// `GET user2`: optional members are absent when they are not set.
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

    /// `PUT user2`: one change a call.
    func updateProfile(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        let intents = [
            "name", "phone_number", "verification_code", "mfa", "tags_verification_code", "tags", "locale",
        ].filter { body.has($0) }
        // A body with an operation and no tags is a malformed change of tags.
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

    /// The most tags that a user has.
    private static let maximumTags = 64

    private func setLocale(_ locale: String, _ user: User) throws(APIError) {
        guard AccountRules.accepts(locale: locale) else { throw .badLocale }
        try change { $0.users[user.id]?.locale = locale }
    }
}

extension CloudState {
    /// Whether another user has that phone number, as a name or beside it.
    fileprivate func hasPhone(_ phone: String, beside userID: String) -> Bool {
        users.all.contains { $0.id != userID && ($0.phone == phone || $0.userName == phone) }
    }
}
