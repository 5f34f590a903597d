// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension CloudAPI {
    /// `DELETE user2`: `?request=true` sends a code, `?verification_code=` deletes the account. A guest's goes at once.
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
