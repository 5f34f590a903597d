/// What is traded for tokens (`grant_type`).
public struct GrantType: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let authorizationCode = GrantType(rawValue: "authorization_code")
    public static let refreshToken = GrantType(rawValue: "refresh_token")
    public static let password = GrantType(rawValue: "password")
    public static let clientCredentials = GrantType(rawValue: "client_credentials")
    /// RFC 7523, section 2.1.
    public static let jwtBearer = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:jwt-bearer")
    /// RFC 8628, section 3.4.
    public static let deviceCode = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:device_code")
}
