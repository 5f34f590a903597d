// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON

/// A Java exception that a portal answered with, in any of its three shapes.
struct LiferayException: Equatable {
    /// Which generation of the portal writes it so.
    enum Shape: String, Sendable { case v61, v62, v7 }

    /// Without its package: `NoSuchUserException`.
    var name: String
    var words: String?
    var shape: Shape
    /// The member `exception`, as it came.
    private var text: String

    /// nil for a value that is no exception.
    init?(_ json: JSONValue) {
        guard let text = json["exception"]?.string else { return nil }
        self.text = text
        let type: String
        if let error = json["error"]?.unlessNull {
            shape = .v7
            type = error["type"]?.string ?? json["throwable"]?.string ?? text
            words = error["message"]?.string ?? text
        } else if let throwable = json["throwable"]?.string {
            shape = .v7
            type = throwable
            words = text
        } else if let message = json["message"]?.unlessNull {
            shape = .v62
            type = text
            words = message.string
        } else {
            shape = .v61
            type = text
            words = Self.parts(text).words
        }
        name = Self.simpleName(Self.parts(type).type)
    }

    /// `com.example.SomeException: what went wrong`, either half of which may be missing.
    private static func parts(_ text: String) -> (type: Substring, words: String?) {
        guard let colon = text.firstIndex(of: ":") else { return (Substring(text), nil) }
        let words = text[text.index(after: colon)...].drop { $0 == " " }
        return (text[..<colon], words.isEmpty ? nil : String(words))
    }

    private static func simpleName(_ type: Substring) -> String {
        let last = type.split(whereSeparator: { $0 == "." || $0 == "$" }).last ?? type
        return presentable(String(last.prefix(120)))
    }

    /// Those that say something about the user or the sign-in. A gateway's answer may have a cause as well (`invalid_token`), and is none
    /// of the portal's.
    static let names: Set<String> = [
        "NoSuchUserException", "UserIdException", "UserPasswordException", "AuthException", "LoginException",
        "SecurityException", "PrincipalException", "MustBeAuthenticated", "UserEmailAddressVerificationException",
        "MustVerifyEmailAddress",
    ]

    func accountError(from host: String, status: Int) -> AccountError {
        let (code, sentence) = meaning(host: host)
        var error = AccountError(code, message: sentence, serverMessage: words.map(presentable), status: status)
        error.serverCause = name
        return error
    }

    private func meaning(host: String) -> (AccountError.Code, String) {
        switch name {
        case "NoSuchUserException", "UserIdException":
            (.unknownUser, "there is no such user in this company of the portal; check the name and the company's id")
        case "UserEmailAddressException", "UserScreenNameException":
            (.invalidUserName, "the portal does not take this as a user's name (\(name))")
        case "UserPasswordException", "AuthException", "LoginException":
            (.invalidCredentials, "wrong user name or password")
        case "SecurityException" where wantsSignIn, "PrincipalException" where wantsSignIn,
            "PrincipalException$MustBeAuthenticated", "MustBeAuthenticated":
            (.expired, "the portal does not know who is asking: the session has ended; sign in again")
        case "PrincipalException", "SecurityException", "MustHavePermission", "MustBeCompanyAdmin":
            (.forbidden, "the signed-in user may not do this (\(name))")
        case "UserLockoutException", "UserActiveException", "PasswordExpiredLockout", "LDAPLockout":
            (.forbidden, "the portal has locked this account (\(name)); ask its administrator")
        case "UserEmailAddressVerificationException", "MustVerifyEmailAddress":
            (.unverifiedUser, "the account's e-mail address is not confirmed yet; follow the link that was sent to it")
        case "PasswordExpiredException", "UserPasswordResetException":
            (.passwordResetRequired, "the portal wants a new password first; set it there")
        case "NoSuchCompanyException", "CompanyMaxUsersException":
            (.invalidConfiguration, "the portal has no such company; check the company's id")
        case "NoSuchMethodException", "NoSuchJSONWebServiceException", "NoSuchActionException",
            _ where namesNoService:
            (.unsupported, "\(host) has no such service (\(name)); check the portal's version")
        default:
            (.rejected, "\(host) refused the call (\(name))")
        }
    }

    /// `No JSON web service action associated with path …`, which portals before 7.0 answer without the name of an exception.
    private var namesNoService: Bool {
        [text, words ?? ""].contains { $0.lowercased().contains("no json web service action") }
    }

    /// `Authenticated access required`, as every generation says to somebody whom it does not know.
    private var wantsSignIn: Bool { words?.lowercased().contains("authenticated access required") ?? false }
}
