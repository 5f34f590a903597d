// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension CloudAPI {
    /// `POST user2`: a new account, which can be used once its code was entered. Asking again sends another code.
    func signUp(_ call: Call) throws(APIError) -> Response {
        let body = try call.body()
        try checkLocale(call)
        let name = try validName(body)
        if let code = try body.code() { return try confirm(name, code, tags: try body.userTags()) }
        guard let password = try body.string("password"), !password.isEmpty else { throw .passwordMissing }
        guard AccountRules.accepts(password: password) else { throw .weakPassword }

        let hash = StoredPassword(password)
        let user = try addUser { state throws(APIError) in
            let known = state.user(named: name)
            guard known?.isConfirmed != true else { throw .accountExists }
            var user = known ?? User(id: makeUUID(), userName: name, password: hash)
            // No one has proven to own the name yet, so the latest request for it is the one that can be confirmed.
            user.password = hash
            user.isConfirmed = false
            return user
        }
        journal.account("signed_up", user: name)
        try sendCode(to: name, for: .signUp, holder: user.id, userID: user.id)
        return success("User created successfully. Verification code sent", status: 201)
    }

    private func confirm(_ name: String, _ code: String, tags: [String]) throws(APIError) -> Response {
        guard let user = readState({ $0.user(named: name) }) else { throw .wrongPassword }
        guard !user.isConfirmed else { throw .alreadyVerified }
        try redeem(code, for: .signUp, holder: user.id) { state, pending in
            state.users[pending.userID]?.isConfirmed = true
            state.users[pending.userID]?.tags = tags
            return nil
        }
        journal.account("confirmed", user: name)
        return success("User confirmed successfully", status: 201)
    }
}

extension Fields {
    /// As ``tags()``, with the code that account calls answer to a tag without a value.
    func userTags() throws(APIError) -> [String] {
        do throws(APIError) {
            return try tags()
        } catch {
            throw error == .badTag ? .badUserTag : error
        }
    }
}
