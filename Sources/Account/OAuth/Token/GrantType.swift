// SPDX-License-Identifier: Apache-2.0

/// What is traded for tokens (`grant_type`).
public struct GrantType: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A code from a sign-in page (RFC 6749, section 4.1).
    public static let authorizationCode = GrantType(rawValue: "authorization_code")
    /// A refresh token (section 6).
    public static let refreshToken = GrantType(rawValue: "refresh_token")
    /// The user's name and password (section 4.3).
    public static let password = GrantType(rawValue: "password")
    /// The client's own right (section 4.4).
    public static let clientCredentials = GrantType(rawValue: "client_credentials")
    /// RFC 7523, section 2.1.
    public static let jwtBearer = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:jwt-bearer")
    /// RFC 8628, section 3.4.
    public static let deviceCode = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:device_code")
}
