import HTTPCore
import JSON
import Vocabulary

extension RainMakerAccount {
    /// Everything that the cloud says about the signed-in user.
    /// - Parameter customData: whether to ask for the custom data, too, which may be some hundred kilobytes.
    public func profile(customData: Bool = false) async throws(AccountError) -> RainMakerProfile {
        let query = customData ? [(name: "custom_data", value: "true")] : []
        guard let profile = RainMakerProfile(try await call(RainMakerCall(.get, "user2", query: query))) else {
            throw service.incomplete("user_id")
        }
        return profile
    }

    // The cloud takes one of these at a time.

    /// 1 to 256 characters.
    public func setName(_ name: String) async throws(AccountError) {
        try RainMakerInput.check(name: name)
        try await update(["name": .string(name)])
    }

    /// Sets the telephone number (`+`, country code, number) and has a code sent to it.
    /// - Throws: `phoneNumberInUse`.
    public func setPhoneNumber(_ number: String) async throws(AccountError) {
        try RainMakerInput.check(phoneNumber: number)
        try await update(["phone_number": .string(number)])
    }

    /// Confirms the telephone number with the code that was sent to it.
    public func confirmPhoneNumber(code: Secret) async throws(AccountError) {
        try RainMakerInput.check(code: code)
        try await update(["verification_code": .string(code.revealString())])
    }

    /// Adds tags of the form `key:value`.
    public func addTags(_ tags: [String]) async throws(AccountError) { try await change(tags, "add") }

    public func removeTags(_ tags: [String]) async throws(AccountError) { try await change(tags, "remove") }

    /// Confirms tags that the deployment lets a user have with a code only.
    public func confirmTags(code: Secret) async throws(AccountError) {
        try RainMakerInput.check(code: code)
        try await update(["tags_verification_code": .string(code.revealString())])
    }

    /// The language in which the cloud writes to the user, such as `en-us`; `no_locale` takes it away.
    public func setLocale(_ locale: String) async throws(AccountError) {
        try RainMakerInput.check(locale: locale)
        try await update(["locale": .string(locale)])
    }

    /// Whether signing in takes a one-time code after the password. The cloud lets some users change it only.
    public func setSecondStep(_ isOn: Bool) async throws(AccountError) {
        try await update(["mfa": .bool(isOn)])
    }

    private func change(_ tags: [String], _ operation: String) async throws(AccountError) {
        guard !tags.isEmpty else { throw AccountError(.invalidTag, message: "no tag was given") }
        try RainMakerInput.check(tags: tags)
        try await update(["operation": .string(operation), "tags": Self.list(tags)])
    }

    private func update(_ body: JSONValue) async throws(AccountError) {
        try await call(RainMakerCall(.put, "user2", body: body))
    }
}
