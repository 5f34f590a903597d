// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainJSON
import RainMaker
import RainPrivateFiles

/// A method of signing in. Programs add their own methods with ``init(user:credentials:)``.
public struct SignInMethod: Sendable {
    /// The user's name, if it is known before.
    public var user: String?
    /// Returns the credentials. It is called once the place for the session has been tested.
    public var credentials: @Sendable (SignInContext) async throws(AccountError) -> SignInCredentials

    public init(
        user: String? = nil,
        credentials: @escaping @Sendable (SignInContext) async throws(AccountError) -> SignInCredentials
    ) {
        self.user = user
        self.credentials = credentials
    }

    /// Signs in with given credentials.
    public static func credentials(_ credentials: SignInCredentials, user: String? = nil) -> SignInMethod {
        SignInMethod(user: user) { _ in credentials }
    }

    /// Signs in with a user name, such as an e-mail address, and a password.
    public static func password(user: String, _ password: Secret) -> SignInMethod {
        credentials(.password(user: user, password: password), user: user)
    }

    /// Signs in to a new account without a name, which is valid for a limited time. RainMaker has these.
    public static let guest = credentials(.guest)

    /// Signs in with the program's own client id and secret; no user signs in.
    public static let clientCredentials = credentials(.clientCredentials)

    /// Signs in on another device (RFC 8628). `show` gets the address and the code that the user enters there.
    ///
    /// Throws `unsupported` if the identity system has no such sign-in.
    public static func deviceCode(
        show: @escaping @Sendable (DeviceAuthorization) async -> Void
    ) -> SignInMethod {
        SignInMethod { context throws(AccountError) in
            guard let provider = context.account.provider else {
                throw AccountError(
                    .unsupported, message: "RainMaker does not support sign-in with a code on another device",
                    remedies: [.signInPage])
            }
            let authorization = try await provider.beginDeviceSignIn()
            await show(authorization)
            return try await provider.awaitDeviceSignIn(authorization)
        }
    }

    /// Signs in with the user's own browser.
    public static func browser(_ browser: BrowserMethod) -> SignInMethod {
        SignInMethod { context throws(AccountError) in try await browser.credentials(context) }
    }
}

/// What a ``SignInMethod`` needs to sign in.
public struct SignInContext: Sendable {
    /// The account to sign in to.
    public var account: AccountAccess
    /// HTTP, cryptography, randomness and clocks of the client that signs in.
    public var tools: RainKitTools
}

/// Keeps a sign-in that waits for its one-time code in a private file, so that another process can finish it. The cloud accepts the code
/// only with the session that it gave for it.
public struct PendingSignIn: Sendable {
    private let file: PrivateFile
    /// The code and the cloud's session are sent to the base URL at which the sign-in began, and to no other.
    private let base: ServiceURL

    /// - Parameters:
    ///   - state: the client's folder.
    ///   - deployment: the deployment at which the sign-in began.
    public init(state: String, deployment: Deployment) {
        file = PrivateFile(path: "\(state)/sign-in-\(deployment.name).json")
        base = deployment.base
    }

    /// Saves the sign-in. Throws `cannotStore`.
    public func save(_ challenge: SignInChallenge) throws(AccountError) {
        let content: JSONValue = [
            "schemaVersion": 1, "base_url": .string(base.text), "user_name": .string(challenge.userName),
            "session": .string(challenge.session.revealString()),
        ]
        do throws(PrivateFileError) {
            try file.write(content.serialized(pretty: true) + [0x0A])
        } catch {
            throw AccountError(.cannotStore, message: "\(error)")
        }
    }

    /// Returns the sign-in that waits at this deployment for this user, or for any user if nil; nil if there is none. Throws
    /// `storeUnreadable`.
    public func load(user: String?) throws(AccountError) -> SignInChallenge? {
        let content: [UInt8]?
        do throws(PrivateFileError) {
            content = try file.read(maximumBytes: 64 << 10)
        } catch {
            throw AccountError(.storeUnreadable, message: "\(error)")
        }
        guard let content, let json = try? JSONValue(parsing: content), json["schemaVersion"]?.integer == 1,
            json["base_url"]?.string == base.text,
            let name = json["user_name"]?.string, let session = json["session"]?.string, user == nil || user == name
        else { return nil }
        return SignInChallenge(userName: name, session: Secret(session))
    }

    /// Removes the file. A file that cannot be removed does no harm, since the cloud ends its session after minutes.
    public func remove() { try? file.remove() }
}

extension RainKitClient {
    /// The sign-in at the deployment that waits for its code.
    public var pendingSignIn: PendingSignIn {
        PendingSignIn(state: configuration.state, deployment: configuration.deployment)
    }
}
