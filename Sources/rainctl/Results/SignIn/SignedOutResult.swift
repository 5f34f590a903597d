// SPDX-License-Identifier: Apache-2.0
import RainKit

/// A session has ended here, and at its provider where that could be told.
struct SignedOutResult: CommandResult {
    /// A token that the provider may still take.
    struct Token: Encodable {
        let token: String
        let expiresAt: String?
        /// Whether it is known to be good.
        let certain: Bool

        private enum CodingKeys: String, CodingKey {
            case token
            case expiresAt = "expires_at"
            case certain
        }
    }

    let profile: String
    let revoked: Bool
    /// Absent where the provider ended everything, and where it could not be told.
    var stillValid: [Token]?
    /// The provider's own page to sign out at.
    var signOutPage: String?

    private enum CodingKeys: String, CodingKey {
        case profile, revoked
        case stillValid = "still_valid"
        case signOutPage = "sign_out_page"
    }

    var text: String { revoked ? "Signed out." : "Signed out here." }
}

extension SignedOutResult {
    init(profile: String, _ report: SignOutReport) {
        self.init(
            profile: profile, revoked: false,
            stillValid: report.stillValid.map {
                Token(token: $0.kind.rawValue, expiresAt: $0.expires.map { Timestamp.text($0) }, certain: $0.isCertain)
            }, signOutPage: report.page)
    }

    /// What is left at the provider, for a person.
    func warning(of provider: String) -> String {
        let tokens = (stillValid ?? []).map { token in
            let name = token.token.replacing("_", with: " ")
            return "the \(name) (\(token.expiresAt.map { "until \($0)" } ?? "without a stated end"))"
        }.joined(separator: " and ")
        let isCertain = (stillValid ?? []).contains { $0.certain }
        let rest =
            isCertain
            ? "\(provider) has no way to end the tokens, and still takes \(tokens)"
            : "\(provider) was asked to end the session and does not say whether it still takes \(tokens)"
        let page = signOutPage.map { "; to sign out in the browser too, open \($0)" } ?? ""
        return "signed out here, but \(rest)\(page)"
    }
}
