// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension CloudAPI {
    /// `PUT forgotpassword2`: first the user name alone, then with the code and the new password. Sessions go on.
    func forgotPassword(_ call: Call) throws(APIError) -> Response {
        let body = try call.body()
        try checkLocale(call)
        let name = try validName(body)
        let password = try body.string("password")
        let code = try body.code()
        guard let user = readState({ $0.user(named: name) }) else { throw .userMissing }
        guard !user.isGuest else { throw .notForGuests }
        guard password != nil || code != nil else {
            // Mail goes to confirmed addresses only. Users of an identity provider have no password here.
            guard user.isConfirmed, user.password != nil else { throw .resetFailed }
            try sendCode(to: name, for: .passwordReset, holder: user.id, userID: user.id)
            return success("Verification code sent")
        }
        guard let code else { throw .codeMissing }
        guard let password, !password.isEmpty else { throw .resetPasswordMissing }
        guard AccountRules.accepts(password: password) else { throw .weakPassword }
        let hash = StoredPassword(password)
        try redeem(code, for: .passwordReset, holder: user.id, refusals: CodeRefusals(expired: .codeExpired)) {
            state, pending in
            state.users[pending.userID]?.password = hash
            return nil
        }
        journal.account("password_reset", user: name)
        return success("Password changed successfully")
    }

    /// `PUT password2`: every session of the user ends, this one too.
    func changePassword(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        guard !user.isGuest else { throw .notForGuests }
        guard let old = try body.string("password"), !old.isEmpty else { throw .wrongCurrentPassword }
        guard let new = try body.string("newpassword"), !new.isEmpty else { throw .newPasswordMissing }
        guard user.password != nil else { throw .passwordChangeFailed }
        guard user.accepts(password: old) else { throw .wrongCurrentPassword }
        guard AccountRules.accepts(password: new) else { throw .weakPassword }
        let hash = StoredPassword(new)
        try change { state in
            state.users[user.id]?.password = hash
            state.endSessions(of: user.id)
        }
        journal.account("password_changed", user: user.userName)
        return success("Password changed successfully")
    }
}
