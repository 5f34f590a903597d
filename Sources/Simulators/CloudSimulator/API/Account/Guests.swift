// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension CloudAPI {
    /// How long a guest may stay, in milliseconds.
    private static let guestLifetime: Int64 = 30 * 86_400_000

    /// `POST user/guest`: an account without a name, which may become one with a name.
    func beGuest(_ call: Call) throws(APIError) -> Response {
        _ = try call.body(isOptional: true)
        let id = makeUUID()
        let end = now + Self.guestLifetime
        let guest = try addUser { _ in
            var guest = User(id: id, userName: "guest@\(id).temp.user", password: nil)
            guest.guestUntil = end
            return guest
        }
        let begun = try beginSession(for: guest)
        journal.account("guest", user: guest.userName)
        return success(
            "Login successful", members(begun) + [.init("user_name", .string(guest.userName))], status: 201)
    }

    /// `POST user/guest/conversion/initiate`: sends a code to the address that the guest wants to be known by.
    func initiateConversion(_ call: Call) throws(APIError) -> Response {
        let (guest, name, _) = try conversion(call)
        try sendCode(to: name, for: .guestConversion, holder: guest.id, userID: guest.id, target: name)
        return success("Verification code sent")
    }

    /// `POST user/guest/conversion/verify`: the account keeps its id, its nodes and its sessions.
    func verifyConversion(_ call: Call) throws(APIError) -> Response {
        let (guest, name, body) = try conversion(call)
        guard let code = try body.code(), let password = try body.string("password"), !password.isEmpty else {
            throw .passwordMissing
        }
        guard AccountRules.accepts(password: password) else { throw .weakPassword }
        let hash = StoredPassword(password)
        try redeem(code, for: .guestConversion, holder: guest.id) { state, pending in
            guard pending.target == name else { return .wrongCode }
            guard state.user(named: name) == nil else { return .accountExists }
            state.users[guest.id]?.userName = name
            state.users[guest.id]?.password = hash
            state.users[guest.id]?.guestUntil = nil
            return nil
        }
        journal.account("converted", user: name)
        return success("User converted successfully")
    }

    private func conversion(_ call: Call) throws(APIError) -> (guest: User, name: String, body: Fields) {
        let guest = try call.caller()
        let body = try call.body()
        guard guest.isGuest else { throw .noGuest }
        if try body.string("user_name")?.hasPrefix("+") == true { throw .onlyEmail }
        let name = try validName(body)
        guard readState({ $0.user(named: name) }) == nil else { throw .accountExists }
        return (guest, name, body)
    }
}
