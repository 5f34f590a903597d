// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainCore

extension RainMakerAccount {
    /// One thing about the signed-in user that can be changed (``RainMakerAccount/update(_:)``).
    public enum Change: Sendable {
        /// 1 to 256 characters.
        case name(String)
        /// `+`, country code and number; the cloud sends a code there. Throws `phoneNumberInUse`.
        case phoneNumber(String)
        /// Confirms the telephone number with the code that was sent to it.
        case phoneCode(Secret)
        /// Each `key:value`.
        case addTags([String])
        /// Each `key:value`, as it was added.
        case removeTags([String])
        /// Confirms tags that the deployment lets a user have with a code only.
        case tagsCode(Secret)
        /// The language in which the cloud writes to the user, such as `en-us`; `no_locale` takes it away.
        case locale(String)
        /// Whether signing in takes a one-time code after the password. The cloud lets some users change it only.
        case secondStep(Bool)
    }
}

extension RainMakerAccount.Change {
    func check() throws(AccountError) {
        switch self {
        case .name(let name): try RainMakerInput.check(name: name)
        case .phoneNumber(let number): try RainMakerInput.check(phoneNumber: number)
        case .phoneCode(let code), .tagsCode(let code): try RainMakerInput.check(code: code)
        case .addTags(let tags), .removeTags(let tags):
            guard !tags.isEmpty else { throw AccountError(.invalidTag, message: "no tag was given") }
            try RainMakerInput.check(tags: tags)
        case .locale(let locale): try RainMakerInput.check(locale: locale)
        case .secondStep: break
        }
    }

    var body: JSONValue {
        switch self {
        case .name(let name): ["name": .string(name)]
        case .phoneNumber(let number): ["phone_number": .string(number)]
        case .phoneCode(let code): ["verification_code": .string(code.revealString())]
        case .addTags(let tags): ["operation": "add", "tags": RainMakerAccount.list(tags)]
        case .removeTags(let tags): ["operation": "remove", "tags": RainMakerAccount.list(tags)]
        case .tagsCode(let code): ["tags_verification_code": .string(code.revealString())]
        case .locale(let locale): ["locale": .string(locale)]
        case .secondStep(let isOn): ["mfa": .bool(isOn)]
        }
    }
}
