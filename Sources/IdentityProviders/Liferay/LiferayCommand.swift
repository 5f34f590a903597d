// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// One call of Liferay's JSON web services. They are called in arrays, one object with one key a call, and answered in arrays of the
/// same length.
struct LiferayCommand: Sendable, Equatable {
    /// `/user/get-current-user`.
    var name: String
    var parameters: [JSONValue.Member]

    init(_ name: String, _ parameters: [JSONValue.Member] = []) {
        self.name = name
        self.parameters = parameters
    }

    /// The body of `POST …/invoke`.
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

    /// The user who is signed in. Before version 7 only Liferay's own plug-in for apps offered that.
    static func currentUser(version: LiferayVersion) -> LiferayCommand {
        LiferayCommand(version < .v70 ? "/screens-web.screensuser/get-current-user" : "/user/get-current-user")
    }

    /// The sites that the user is a member of, the first of which tells the company's id, as Liferay's mobile SDK finds it.
    static func sites(version: LiferayVersion) -> LiferayCommand {
        LiferayCommand(version < .v70 ? "/group/get-user-sites" : "/group/get-user-sites-groups")
    }

    /// The user of that name, which is how a sign-in with Basic authentication is tried.
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

/// A portal's version, as Liferay's own SDK numbers them: 61, 62, 70, 71…
public struct LiferayVersion: RawRepresentable, Sendable, Hashable, Comparable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The versions that are spoken here. Liferay's releases by year and quarter speak as 7.4 does.
    static let known = [61, 62, 70, 71, 72, 73, 74].map(LiferayVersion.init(rawValue:))

    /// Reads `62`, and `6.2`. Nil for a version that is not spoken here.
    init?(_ text: String) {
        guard let found = Self.known.first(where: { "\($0.rawValue)" == text || $0.dotted == text }) else { return nil }
        self = found
    }

    private var dotted: String { "\(rawValue / 10).\(rawValue % 10)" }

    /// Liferay 6.1, whose JSON web services are below `/api/secure/jsonws`.
    public static let v61 = LiferayVersion(rawValue: 61)
    /// Liferay 6.2, the first with its JSON web services below `/api/jsonws`.
    public static let v62 = LiferayVersion(rawValue: 62)
    /// Liferay 7.0, the first that tells the signed-in user without Liferay Screens.
    public static let v70 = LiferayVersion(rawValue: 70)

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Where the JSON web services are, below the portal's own address.
    var servicesPath: String { self < .v62 ? "/api/secure/jsonws" : "/api/jsonws" }
}
