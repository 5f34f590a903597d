// SPDX-License-Identifier: Apache-2.0
extension CloudAPI {
    /// Sends a user a code that ``redeem(_:for:holder:refusals:then:)`` will ask for.
    ///
    /// - Parameters:
    ///   - holder: who must enter it: a user's id, or the handle of a sign-in that waits for the code.
    ///   - target: the value that takes effect with the right code, such as a new phone number.
    func sendCode(
        to receiver: String, for kind: Mailbox.Kind, holder: String, userID: String, target: String? = nil
    ) throws(APIError) {
        let now = now
        let lifetime = options.verificationLifetime.milliseconds
        let code = try change { state in
            state.codes.issue(.init(kind, holder), userID: userID, target: target, lifetime: lifetime, at: now)
        }
        mailbox.send(code, to: receiver, for: kind, at: now)
        journal.account("code_sent", user: receiver, kind: kind.rawValue)
    }

    /// The errors of a call for a code that is wrong, expired, missing or has been tried too often.
    struct CodeRefusals {
        var wrong = APIError.wrongCode
        var expired = APIError.wrongCode
        var missing = APIError.wrongCode
        var exhausted = APIError.attemptsExceeded
    }

    /// Checks a code and, if it is right, runs `effect` in the same change of the state.
    func redeem(
        _ code: String, for kind: Mailbox.Kind, holder: String, refusals: CodeRefusals = CodeRefusals(),
        then effect: (inout CloudState, VerificationCodes.Pending) -> APIError?
    ) throws(APIError) {
        let now = now
        let refusal = try change { state -> APIError? in
            switch state.codes.redeem(.init(kind, holder), code: code, at: now) {
            case .right(let pending): effect(&state, pending)
            case .wrong: refusals.wrong
            case .expired: refusals.expired
            case .missing: refusals.missing
            case .exhausted: refusals.exhausted
            }
        }
        if let refusal { throw refusal }
    }

    /// The user name of a body, if it may be one.
    func validName(_ body: Fields) throws(APIError) -> String {
        let name = try body.string("user_name")
        switch AccountRules.problem(ofName: name) {
        case .missing: throw .userNameMissing
        case .email: throw .badEmail
        case .phone: throw .badPhone
        case nil: return name ?? ""
        }
    }

    /// `?locale=` of calls that send mail.
    func checkLocale(_ call: Call) throws(APIError) {
        guard AccountRules.accepts(locale: call.request.query("locale") ?? AccountRules.noLocale) else {
            throw .badLocale
        }
    }
}
