// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import Synchronization
import Testing

/// A sign-in that runs in the background while a test plays the browser.
final class SignInBench: Sendable {
    /// The page that was shown.
    let shown = AsyncStream.makeStream(of: String.self)
    private let state: State
    private let requested: State
    private let responseType: AuthorizationRequest.ResponseType

    init(
        state: String = "right-state", requested: String? = nil,
        responseType: AuthorizationRequest.ResponseType = .code
    ) {
        self.responseType = responseType
        self.state = State(state)!
        self.requested = State(requested ?? state)!
    }

    var show: ShowSignInPage { { [shown] url in shown.continuation.yield(url) } }

    /// Runs `agent`, and `browser` as soon as the page is shown.
    func run(
        _ agent: any AuthorizationUserAgent, issuer: String? = nil, browser: @Sendable (String) async throws -> Void
    ) async throws -> Result<AuthorizationResponse, AccountError> {
        let (fresh, responseType) = (state, responseType)
        async let outcome: Result<AuthorizationResponse, AccountError> = {
            do throws(AccountError) {
                return .success(
                    try await agent.authorize { target throws(AccountError) in
                        var request = AuthorizationRequest(
                            endpoint: "https://auth.example.com/authorize", clientID: "client",
                            redirectURI: target.redirectURI)
                        request.responseType = responseType
                        request.state = target.state(fresh)
                        return AuthorizationAttempt(request, issuer: issuer)
                    })
            } catch {
                return .failure(error)
            }
        }()
        for await url in shown.stream {
            try await browser(url)
            break
        }
        return await outcome
    }

    /// The value of a parameter in a shown address.
    static func parameter(_ name: String, of url: String) throws -> String {
        let query = try #require(url.split(separator: "?", maxSplits: 1).last)
        return try #require(try ParameterList(parsing: query.utf8)[name])
    }

    /// The port of the redirect URI in a shown address.
    static func port(of url: String) throws -> Int {
        let redirect = try parameter("redirect_uri", of: url)
        return try #require(Int(redirect.split(separator: ":").last?.prefix { $0.isNumber } ?? ""))
    }
}

/// Addresses that a test pastes.
final class ScriptedAddresses: PastedAddresses {
    private let lines = AsyncStream.makeStream(of: String.self)
    private let said = Mutex<[String]>([])

    func paste(_ line: String) { lines.continuation.yield(line) }
    func end() { lines.continuation.finish() }
    var refusals: [String] { said.withLock { $0 } }

    func next() async throws(AccountError) -> Secret? {
        for await line in lines.stream { return Secret(line) }
        return nil
    }

    func refuse(_ reason: String) async { said.withLock { $0.append(reason) } }
}
