// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore

/// A way to sign in. Programs add ways of their own with ``init(user:credentials:)``.
public struct SignInMethod: Sendable {
    /// Who signs in, as far as that is known before.
    public var user: String?
    /// Comes back with what proves who the user is. It is called once the place for the session is proven to work.
    public var credentials: @Sendable (SignInContext) async throws(AccountError) -> SignInCredentials

    public init(
        user: String? = nil,
        credentials: @escaping @Sendable (SignInContext) async throws(AccountError) -> SignInCredentials
    ) {
        self.user = user
        self.credentials = credentials
    }

    /// With credentials that are at hand.
    public static func credentials(_ credentials: SignInCredentials, user: String? = nil) -> SignInMethod {
        SignInMethod(user: user) { _ in credentials }
    }

    /// With a user name, such as an e-mail address, and a password.
    public static func password(user: String, _ password: Secret) -> SignInMethod {
        credentials(.password(user: user, password: password), user: user)
    }

    /// A new account without a name, good for a while. RainMaker has these.
    public static let guest = credentials(.guest)

    /// The program's own client id and secret; no user signs in.
    public static let clientCredentials = credentials(.clientCredentials)

    /// On another device (RFC 8628): `show` is handed the address and the code that the person enters there.
    ///
    /// Throws `unsupported` where the identity system has no such sign-in.
    public static func deviceCode(
        show: @escaping @Sendable (DeviceAuthorization) async -> Void
    ) -> SignInMethod {
        SignInMethod { context throws(AccountError) in
            guard let provider = context.account.provider else {
                throw AccountError(
                    .unsupported, message: "RainMaker has no sign-in on another device", remedies: [.signInPage])
            }
            let authorization = try await provider.beginDeviceSignIn()
            await show(authorization)
            return try await provider.awaitDeviceSignIn(authorization)
        }
    }

    /// In the person's own browser.
    public static func browser(_ browser: BrowserMethod) -> SignInMethod {
        SignInMethod { context throws(AccountError) in try await browser.credentials(context) }
    }
}

/// What a ``SignInMethod`` signs in to.
public struct SignInContext: Sendable {
    /// The account whose provider or deployment is asked.
    public var account: AccountAccess
    /// HTTP, cryptography, randomness and clocks of the client that signs in.
    public var tools: RainKitTools
}
