// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// One call of Liferay's JSON web services. Calls are sent in an array, as one object with one key for each call. The answer is an array of
/// the same length.
struct LiferayCommand: Sendable, Equatable {
    /// The service's name, such as `/user/get-current-user`.
    var name: String
    private var parameters: [JSONValue.Member]

    fileprivate init(_ name: String, _ parameters: [JSONValue.Member] = []) {
        self.name = name
        self.parameters = parameters
    }

    /// Returns the body of `POST …/invoke`.
    static func body(_ commands: [LiferayCommand]) -> [UInt8] {
        JSONValue.array(commands.map { .object([.init($0.name, .object($0.parameters))]) }).serialized()
    }

    static func request(
        _ commands: [LiferayCommand], _ settings: LiferaySettings, version: LiferayVersion? = nil
    ) -> HTTPRequest {
        let version = settings.version ?? version ?? .v70
        return HTTPRequest(
            method: .post, url: settings.server.text + version.servicesPath + "/invoke",
            headers: HTTPRequest.usualHeaders + [HTTPHeader("Content-Type", "application/json")],
            body: body(commands), maximumResponseBytes: LiferayReply.limits.maximumBytes)
    }

    /// Calls for the signed-in user. Before version 7 only Liferay's own plug-in for apps had this service.
    static func currentUser(version: LiferayVersion) -> LiferayCommand {
        LiferayCommand(version < .v70 ? "/screens-web.screensuser/get-current-user" : "/user/get-current-user")
    }

    /// Calls for the user's sites. The first one names the company's id; Liferay's mobile SDK finds it in the same way.
    static func sites(version: LiferayVersion) -> LiferayCommand {
        LiferayCommand(version < .v70 ? "/group/get-user-sites" : "/group/get-user-sites-groups")
    }

    /// Calls for the user of that name. A sign-in with Basic authentication is checked with this call.
    static func user(_ login: LiferayLogin, companyID: Int64) -> LiferayCommand {
        let company = JSONValue.Member("companyId", .integer(companyID))
        switch login.kind {
        case .email:
            return LiferayCommand(
                "/user/get-user-by-email-address", [company, .init("emailAddress", .string(login.name))])
        case .screenName:
            return LiferayCommand("/user/get-user-by-screen-name", [company, .init("screenName", .string(login.name))])
        case .userId:
            return LiferayCommand(
                "/user/get-user-by-id",
                [.init("userId", Int64(login.name).map(JSONValue.integer) ?? .string(login.name))]
            )
        }
    }
}

/// A portal's version, with the numbers of Liferay's own SDK: 61, 62, 70, 71…
public struct LiferayVersion: RawRepresentable, Sendable, Hashable, Comparable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The supported versions. Liferay's releases by year and quarter behave like 7.4.
    static let known = [61, 62, 70, 71, 72, 73, 74].map(LiferayVersion.init(rawValue:))

    /// Reads `62` and `6.2`. Returns nil for an unsupported version.
    init?(_ text: String) {
        guard let found = Self.known.first(where: { "\($0.rawValue)" == text || $0.dotted == text }) else { return nil }
        self = found
    }

    private var dotted: String { "\(rawValue / 10).\(rawValue % 10)" }

    /// Liferay 6.1. Its JSON web services are below `/api/secure/jsonws`.
    public static let v61 = LiferayVersion(rawValue: 61)
    /// Liferay 6.2, the first with JSON web services below `/api/jsonws`.
    public static let v62 = LiferayVersion(rawValue: 62)
    /// Liferay 7.0, the first that names the signed-in user without Liferay Screens.
    public static let v70 = LiferayVersion(rawValue: 70)

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The path of the JSON web services, below the portal's address.
    var servicesPath: String { self < .v62 ? "/api/secure/jsonws" : "/api/jsonws" }
}

/// Calls a portal's JSON web services as the signed-in user.
public struct LiferayAccount: Sendable {
    private let session: AccountSession
    private let provider: ConfiguredProvider

    /// - Throws: `unsupported` for a provider that is not a Liferay portal.
    public init(_ session: AccountSession, _ provider: ConfiguredProvider) throws(AccountError) {
        guard provider.hooks is LiferayExtension else {
            throw AccountError(.unsupported, message: "\(provider.title) is not a Liferay portal")
        }
        self.session = session
        self.provider = provider
    }

    /// Calls a service, such as `/user/get-current-user`.
    ///
    /// A portal answers unknown users with status 200 and an exception. Then the session is renewed, and the call is made once more.
    /// - Throws: ``AccountError`` with the exception's class in ``AccountError/serverCause``.
    public func invoke(_ service: String, _ parameters: [JSONValue.Member] = []) async throws(AccountError) -> JSONValue
    {
        let settings = try LiferaySettings(provider)
        let request = LiferayCommand.request([LiferayCommand(service, parameters)], settings)
        return try await session.send(request) { response throws(AccountError) in
            try LiferayReply.values(response, count: 1, from: settings.server.authority)[0]
        }
    }
}

/// Reads a portal's answer to a call of its JSON web services.
///
/// An exception usually comes with status 200, in one of three forms: `{exception:"Class: words"}` of version 6.1,
/// `{exception:"Class",message}` of 6.2, `{exception,throwable,error:{type,message}}` of 7. It replaces the array or one of its elements.
enum LiferayReply {
    fileprivate static let limits = JSONLimits(maximumBytes: 4 << 20)

    /// Returns the answers to `count` commands, in their order.
    static func values(_ response: HTTPResponse, count: Int, from host: String) throws(AccountError) -> [JSONValue] {
        if [301, 302, 303, 307, 308, 401, 451, 511].contains(response.status),
            let refusal = refusal(response, from: host)
        {
            throw refusal
        }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: response.body, limits: limits)
        } catch {
            throw .unreadable(response, from: host, because: error.description)
        }
        if let exception = LiferayException(json) {
            throw exception.accountError(from: host, status: response.status)
        }
        if let refusal = refusal(response, from: host) { throw refusal }
        let values = json.array ?? (count == 1 ? [json] : [])
        guard values.count == count else {
            throw AccountError(
                .malformedAnswer, message: "\(host) received \(count) calls, but returned \(values.count) answers",
                status: response.status)
        }
        for value in values {
            if let exception = LiferayException(value) {
                throw exception.accountError(from: host, status: response.status)
            }
        }
        return values
    }

    /// Returns the meaning of a status alone; nil for a success.
    static func refusal(_ response: HTTPResponse, from host: String) -> AccountError? {
        guard !(200..<300 ~= response.status) else { return nil }
        if let error = AccountError(interference: response, from: host) { return error }
        let (code, sentence): (AccountError.Code, String) =
            switch response.status {
            case 302, 303, 307:
                (
                    .malformedAnswer,
                    AccountError.Code.redirectSentence(
                        host: host, status: response.status, response.redirectTarget(from: host))
                )
            // A request with a password or a token is not sent to another address.
            case 300..<400:
                (
                    .moved,
                    "the portal's address has moved\(response.newAddress.map { " to \($0)" } ?? "") (HTTP \(response.status)); configure "
                        + "the new address"
                )
            case 401:
                (.invalidCredentials, "\(host) no longer accepts this session (HTTP 401); sign in again")
            case 403: (.forbidden, "the signed-in user may not do this")
            case 404: (.unsupported, "\(host) has no such service; check the portal's version and address")
            case 429: (.rateLimited, "\(host) received too many requests; try again in a few minutes")
            case 500...: (.serverFault, "\(host) \(serverTrouble(response.status)); try again later")
            default: (.rejected, "\(host) refused the request (HTTP \(response.status))")
            }
        var error = AccountError(code, message: sentence, status: response.status)
        error.retryAfter = response.retryAfter
        return error
    }
}

/// A Java exception in a portal's answer, in any of its three forms.
struct LiferayException: Equatable {
    /// The generation of the portal that uses this form.
    enum Shape: String, Sendable { case v61, v62, v7 }

    /// The class without its package: `NoSuchUserException`.
    var name: String
    var words: String?
    var shape: Shape
    /// The member `exception`, unchanged.
    private var text: String

    /// Returns nil for a value that is not an exception.
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

    /// Splits `com.example.SomeException: what went wrong`. Either half may be missing.
    private static func parts(_ text: String) -> (type: Substring, words: String?) {
        guard let colon = text.firstIndex(of: ":") else { return (Substring(text), nil) }
        let words = text[text.index(after: colon)...].drop { $0 == " " }
        return (text[..<colon], words.isEmpty ? nil : String(words))
    }

    private static func simpleName(_ type: Substring) -> String {
        let last = type.split(whereSeparator: { $0 == "." || $0 == "$" }).last ?? type
        return presentable(String(last.prefix(120)))
    }

    /// The exceptions about the user or the sign-in. A gateway's answer may have a cause too (`invalid_token`), but not one of these.
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
            (.invalidUserName, "the portal does not accept this user name (\(name))")
        case "UserPasswordException", "AuthException", "LoginException":
            (.invalidCredentials, "wrong user name or password")
        case "SecurityException" where wantsSignIn, "PrincipalException" where wantsSignIn,
            "PrincipalException$MustBeAuthenticated", "MustBeAuthenticated":
            (.expired, "the portal does not know the user: the session has ended; sign in again")
        case "PrincipalException", "SecurityException", "MustHavePermission", "MustBeCompanyAdmin":
            (.forbidden, "the signed-in user may not do this (\(name))")
        case "UserLockoutException", "UserActiveException", "PasswordExpiredLockout", "LDAPLockout":
            (.forbidden, "the portal has locked this account (\(name)); ask its administrator")
        case "UserEmailAddressVerificationException", "MustVerifyEmailAddress":
            (.unverifiedUser, "the account's e-mail address is not confirmed yet; follow the link that was sent to it")
        case "PasswordExpiredException", "UserPasswordResetException":
            (.passwordResetRequired, "the portal requires a new password; set the new password in the portal first")
        case "NoSuchCompanyException", "CompanyMaxUsersException":
            (.invalidConfiguration, "the portal has no such company; check the company's id")
        case "NoSuchMethodException", "NoSuchJSONWebServiceException", "NoSuchActionException",
            _ where namesNoService:
            (.unsupported, "\(host) has no such service (\(name)); check the portal's version")
        default:
            (.rejected, "\(host) refused the call (\(name))")
        }
    }

    /// Whether the text is `No JSON web service action associated with path …`. Portals before 7.0 send it without an exception's name.
    private var namesNoService: Bool {
        [text, words ?? ""].contains { $0.lowercased().contains("no json web service action") }
    }

    /// Whether the text is `Authenticated access required`, which every generation sends to unknown users.
    private var wantsSignIn: Bool { words?.lowercased().contains("authenticated access required") ?? false }
}
