// SPDX-License-Identifier: Apache-2.0
public import CRainKit
import IdentityProviders
import RainAccount
import RainKit
import Synchronization

/// Signing in and out, the session and its user.
extension Client {
    fileprivate func signIn(with method: SignInMethod, _ operation: Operation) async throws -> String {
        let user: UserInfo
        do {
            user = try await kit.signIn(with: method, keeping: store)
        } catch let error as RainKitError {
            guard let challenge = error.account?.challenge else { throw error }
            user = try await finish(challenge, operation)
        }
        known.know(user: user.userID.rawValue)
        return try await session()
    }

    /// Signs in with the one-time code that the cloud has sent to the user. A wrong code is asked for again.
    private func finish(_ challenge: SignInChallenge, _ operation: Operation) async throws -> UserInfo {
        var question = "Code that was sent to \(challenge.userName)"
        while true {
            guard let code = await operation.ask("one_time_code", question) else { throw RainKitError.cancelled }
            do {
                return try await kit.signIn(
                    with: .credentials(.oneTimeCode(challenge, code: code), user: challenge.userName), keeping: store)
            } catch let error as RainKitError {
                guard error.account?.code == .wrongCode else { throw error }
                question = error.message
            }
        }
    }

    /// Returns the document of the stored session, and notes its user and its token.
    fileprivate func session() async throws -> String {
        let account = try kit.account()
        let status = try await account.session.status()
        known.know(user: status.userID.rawValue)
        if let token = try? await account.session.storedAccessToken() { known.know(token, for: status.timeLeft) }
        return JSONText.documentLine(SessionResult(account, status))
    }

    fileprivate func renew(for time: Duration) async throws -> String {
        let session = try kit.session()
        let token = try await session.accessToken()
        let status = try await session.status()
        known.know(token, for: status.timeLeft)
        known.know(user: status.userID.rawValue)
        if let left = status.timeLeft, left < time {
            _ = try await session.renew()
            return try await self.session()
        }
        return JSONText.documentLine(SessionResult(try kit.account(), status))
    }

    fileprivate func profile() async throws -> String {
        let account = try kit.account()
        if let user = account.rainMaker {
            return JSONText.documentLine(WhoamiResult(try await user.user(), at: account.name))
        }
        return JSONText.documentLine(WhoamiResult(try await account.session.user(), at: account.name))
    }

    fileprivate func signOut(everywhere: Bool) async throws -> String {
        let account = try kit.account()
        let outcome = try await kit.signOut(everywhere: everywhere)
        known.forget()
        switch outcome {
        case .complete: return JSONText.documentLine(SignedOutResult(profile: account.name, revoked: true))
        case .partly(let report): return JSONText.documentLine(SignedOutResult(profile: account.name, report))
        case .onlyHere(let why):
            let warning = Warning(reason: "not_revoked", message: why.message)
            return JSONText.documentLine(
                SignedOutResult(profile: account.name, revoked: false), warnings: [warning])
        }
    }
}

extension SessionStatus {
    /// How long the access token is still valid by this machine's clock; nil if its end is unknown.
    fileprivate var timeLeft: Duration? {
        expires.map { .milliseconds(Int64(($0.seconds - SystemWallClock().now.seconds) * 1000)) }
    }
}

/// The address at which the browser ended, if the host passes it on.
private struct AnsweredAddresses: PastedAddresses {
    let operation: Operation

    func next() async throws(AccountError) -> RainKitSecret? { await operation.answer() }

    func refuse(_ why: String) async { operation.add(.question("page_address", why)) }
}

/// The page at which the user signs in.
private struct SignInPageDocument: Encodable {
    let url: String
    var userCode: String?
    /// The address that already contains the code.
    var completeURL: String?
}

// MARK: Functions

@c @implementation
public func rainkit_sign_in_password(
    _ client: OpaquePointer?, _ user: rainkit_string, _ password: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: .seconds(60))) { () throws(CallError) in
        let (user, password) = (try user.requiredText, try password.requiredSecret)
        return { client, operation in try await client.signIn(with: .password(user: user, password), operation) }
    }
}

@c @implementation
public func rainkit_sign_in_browser(
    _ client: OpaquePointer?, _ identityProvider: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    let limit = Duration(milliseconds: timeout, usual: .seconds(300))
    return start(client, operation, within: limit) { () throws(CallError) in
        let provider = try identityProvider.text
        return { client, operation in
            var browser = BrowserMethod(identityProvider: provider) { url in
                operation.add(.page(SignInPageDocument(url: url)))
            }
            browser.limit = limit
            browser.pasted = AnsweredAddresses(operation: operation)
            return try await client.signIn(with: .browser(browser), operation)
        }
    }
}

@c @implementation
public func rainkit_sign_in_device(
    _ client: OpaquePointer?, _ timeout: UInt32, _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: .seconds(600))) { () throws(CallError) in
        { client, operation in
            try await client.signIn(
                with: .deviceCode { page in
                    operation.add(
                        .page(
                            SignInPageDocument(
                                url: page.verificationURI, userCode: page.userCode,
                                completeURL: page.verificationURIComplete)))
                }, operation)
        }
    }
}

@c @implementation
public func rainkit_sign_out(
    _ client: OpaquePointer?, _ everywhere: Int32, _ timeout: UInt32, _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: .seconds(60))) { () throws(CallError) in
        { client, _ in try await client.signOut(everywhere: everywhere != 0) }
    }
}

@c @implementation
public func rainkit_session(
    _ client: OpaquePointer?, _ timeout: UInt32, _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: .seconds(60))) { () throws(CallError) in
        { client, _ in try await client.session() }
    }
}

@c @implementation
public func rainkit_profile(
    _ client: OpaquePointer?, _ timeout: UInt32, _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: .seconds(60))) { () throws(CallError) in
        { client, _ in try await client.profile() }
    }
}

@c @implementation
public func rainkit_renew(
    _ client: OpaquePointer?, _ minimum: UInt32, _ timeout: UInt32, _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: .seconds(60))) { () throws(CallError) in
        { client, _ in try await client.renew(for: Duration(milliseconds: minimum, usual: .seconds(60))) }
    }
}

@c @implementation
public func rainkit_access_token(
    _ client: OpaquePointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> Int32 {
    CallError.number { () throws(CallError) in try Handles.client(client).known.copyToken(buffer, capacity, length) }
}

@c @implementation
public func rainkit_user_id(
    _ client: OpaquePointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> Int32 {
    CallError.number { () throws(CallError) in try Handles.client(client).known.copyUser(buffer, capacity, length) }
}
