// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainMaker

/// Checks the guarantees that every `IdentityProvider` gives to `AccountSession`. Run it on a new provider, with its server or a simulated
/// one.
///
///     try await IdentityProviderConformance.check {
///         IdentityProviderConformance.Subject(http: client, right: { .password(user: "ada", password: right) }) { http, clock in
///             let tools = RainKitTools().providerTools(http: http, clock: clock)
///             return try ProviderRegistry.builtIn.provider("mine", settings: settings, tools: tools)
///         }
///     }
public enum IdentityProviderConformance {
    /// A provider to check, with its own server.
    public struct Subject: Sendable {
        /// Makes the provider on the HTTP client and the clock of a check.
        public typealias Make = @Sendable (any HTTPClient, any WallClock) throws -> any IdentityProvider

        /// The client that reaches the server.
        public var http: any HTTPClient
        /// The clock by which the server's tokens expire.
        public var clock: any WallClock
        /// Returns credentials that are valid now. It is called each time, as codes can be used only once.
        public var right: @Sendable () async throws -> SignInCredentials
        /// Credentials that the server refuses; nil if there are none.
        public var wrong: SignInCredentials?
        /// Texts that no error may contain, above all the password.
        public var secrets: [String]
        /// Ends the session at the server, so that it can no longer be renewed; nil if that is not possible.
        public var revoke: (@Sendable (Tokens) async throws -> Void)?
        /// Makes a provider for each check that needs one.
        public var make: Make

        public init(
            http: any HTTPClient, clock: any WallClock = SystemWallClock(),
            right: @escaping @Sendable () async throws -> SignInCredentials, wrong: SignInCredentials? = nil,
            secrets: [String] = [], revoke: (@Sendable (Tokens) async throws -> Void)? = nil, make: @escaping Make
        ) {
            self.http = http
            self.clock = clock
            self.right = right
            self.wrong = wrong
            self.secrets = secrets
            self.revoke = revoke
            self.make = make
        }
    }

    /// A broken guarantee, and the provider's behaviour.
    public struct Failure: Error, CustomStringConvertible {
        /// The guarantee, as one sentence.
        public var promise: String
        /// The provider's actual behaviour; holds no secret.
        public var detail: String
        public var description: String { "\(promise): \(detail)" }
    }

    /// Runs all checks, each on a separate subject. Throws the first ``Failure``.
    public static func check(_ make: @Sendable () async throws -> Subject) async throws {
        for check in [signingIn, refusing, telling, placing, renewing, faults, revoked, silence] {
            try await check(try await make())
        }
    }

    // MARK: - Sign-in

    private static func signingIn(_ subject: Subject) async throws {
        let promise = "a sign-in returns tokens with the time of their receipt"
        let before = subject.clock.now
        let (provider, tokens) = try await signedIn(subject)
        try demand(
            !provider.name.isEmpty && provider.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, promise, "no name")
        try demand(!tokens.access.isEmpty, promise, "the proof is empty")
        try demand(
            tokens.received >= before && tokens.received <= subject.clock.now, promise,
            "the time of their receipt is wrong"
        )
        if let end = tokens.expires { try demand(end > tokens.received, promise, "they expire before their receipt") }
        let again = try await signedIn(subject).0
        try demand(again.context == provider.context, promise, "the context changes by itself")
    }

    private static func refusing(_ subject: Subject) async throws {
        let promise = "refused credentials are reported as refused"
        guard let wrong = subject.wrong else { return }
        let provider = try subject.make(subject.http, subject.clock)
        let error = await failure { () async throws(AccountError) in _ = try await provider.signIn(wrong) }
        guard let error else { throw Failure(promise: promise, detail: "wrong credentials were accepted") }
        try demand(!error.isTransient, promise, "\(error.code) counts as transient")
        try demand(error.code != .cancelled && !error.message.isEmpty, promise, "\(error.code)")
        try demand(!names(subject, error), promise, "the error quotes a secret")
    }

    // MARK: - The user, and each request

    private static func telling(_ subject: Subject) async throws {
        let promise = "the profile always names the same user"
        let (provider, tokens) = try await signedIn(subject)
        let first = try await provider.user(tokens)
        try demand(!first.userID.rawValue.isEmpty && !first.userName.isEmpty, promise, "without id or name")
        try demand(try await provider.user(tokens).userID == first.userID, promise, "another id the second time")
        if let claimed = provider.user(claimedBy: tokens) {
            try demand(claimed.userID == first.userID, promise, "the tokens claim \(claimed.userID)")
        }
    }

    private static func placing(_ subject: Subject) async throws {
        let promise = "the proof is added to a request, which otherwise stays the same"
        let (provider, tokens) = try await signedIn(subject)
        let base = provider.resources.first?.text ?? "http://127.0.0.1:1"
        let plain = HTTPRequest(
            method: .post, url: base + "/x?a=b", headers: [HTTPHeader("Accept", "text/plain")], body: [1, 2, 3])
        var proven = plain
        provider.authorize(&proven, with: tokens)
        let isOnIt = proven.url != plain.url || proven.headers != plain.headers || proven.body != plain.body
        try demand(isOnIt, promise, "nothing was added")
        try demand(
            proven.method == plain.method && proven.url.hasPrefix(base + "/x?a=b"), promise,
            "its method or address changed")
        try demand(proven.headers.contains(HTTPHeader("Accept", "text/plain")), promise, "a header is missing")
        let noBreaks = proven.headers.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        try demand(noBreaks, promise, "a header has control characters")
    }

    // MARK: - Renewal

    private static func renewing(_ subject: Subject) async throws {
        let promise = "renewed tokens are valid, and can be renewed again"
        let (provider, tokens) = try await signedIn(subject)
        guard tokens.canBeRenewed(at: subject.clock.now) else { return }
        let user = try await provider.user(tokens).userID
        var current = tokens
        for round in 1...2 {
            var next = try await renewed(provider, current, promise)
            // As `AccountSession` does.
            next.refresh = next.refresh ?? current.refresh
            next.extras.merge(current.extras) { new, _ in new }
            current = next
            try demand(
                try await provider.user(current).userID == user, promise, "another user after renewal \(round)")
        }
    }

    private static func renewed(
        _ provider: any IdentityProvider, _ tokens: Tokens, _ promise: String
    ) async throws -> Tokens {
        do throws(RenewalError) {
            return try await provider.renew(tokens)
        } catch {
            throw Failure(promise: promise, detail: "\(error)")
        }
    }

    private static func faults(_ subject: Subject) async throws {
        let promise = "a network fault never ends a session"
        let (_, tokens) = try await signedIn(subject)
        for fault in FaultyClient.Fault.all {
            let provider = try subject.make(FaultyClient(fault: fault), subject.clock)
            let error = await failure { () async throws(AccountError) in
                do {
                    _ = try await provider.signIn(try await subject.right())
                } catch let error as AccountError {
                    throw error
                } catch {}
            }
            // A sign-in without a server (tokens from elsewhere) cannot fail.
            if let error {
                try demand(fault.allows(error), promise, "\(fault): \(error.code) at the sign-in")
            }
            guard tokens.canBeRenewed(at: subject.clock.now) else { continue }
            do throws(RenewalError) {
                _ = try await provider.renew(tokens)
            } catch {
                guard case .unavailable(let cause) = error else {
                    throw Failure(promise: promise, detail: "\(fault) was treated as a refusal (\(error))")
                }
                try demand(fault.allows(cause), promise, "\(fault): \(cause.code) at the renewal")
                continue
            }
            throw Failure(promise: promise, detail: "\(fault) returned new tokens")
        }
    }

    private static func revoked(_ subject: Subject) async throws {
        let promise = "a session that the server has ended is refused permanently"
        guard let revoke = subject.revoke else { return }
        let (provider, tokens) = try await signedIn(subject)
        guard tokens.canBeRenewed(at: subject.clock.now) else { return }
        try await revoke(tokens)
        do throws(RenewalError) {
            _ = try await provider.renew(tokens)
        } catch {
            if case .refused = error { return }
            throw Failure(promise: promise, detail: "\(error)")
        }
        throw Failure(promise: promise, detail: "the session was renewed anyway")
    }

    private static func silence(_ subject: Subject) async throws {
        let promise = "no error quotes a secret, even if the server repeats it"
        let (_, tokens) = try await signedIn(subject)
        let echo = try subject.make(EchoingClient(), subject.clock)
        var errors: [AccountError?] = []
        errors.append(
            await failure { () async throws(AccountError) in
                do {
                    _ = try await echo.signIn(try await subject.right())
                } catch let error as AccountError {
                    throw error
                } catch {}
            })
        errors.append(await failure { () async throws(AccountError) in _ = try await echo.user(tokens) })
        if tokens.canBeRenewed(at: subject.clock.now) {
            do throws(RenewalError) {
                _ = try await echo.renew(tokens)
            } catch {
                switch error {
                case .refused(let cause), .unavailable(let cause): errors.append(cause)
                }
            }
        }
        for error in errors.compactMap({ $0 }) {
            try demand(!names(subject, error, tokens), promise, "\(error.code) quotes one")
        }
    }

    // MARK: - Steps

    private static func signedIn(_ subject: Subject) async throws -> (any IdentityProvider, Tokens) {
        let provider = try subject.make(subject.http, subject.clock)
        return (provider, try await provider.signIn(try await subject.right()))
    }

    private static func failure(_ body: () async throws(AccountError) -> Void) async -> AccountError? {
        do throws(AccountError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private static func demand(_ holds: Bool, _ promise: String, _ detail: String) throws {
        guard holds else { throw Failure(promise: promise, detail: detail) }
    }

    private static func names(_ subject: Subject, _ error: AccountError, _ tokens: Tokens? = nil) -> Bool {
        let text = "\(error) \(error.serverCause ?? "")"
        let secrets = subject.secrets + [tokens?.access, tokens?.refresh].compactMap { $0?.revealString() }
        return secrets.contains { !$0.isEmpty && text.contains($0) }
    }
}

extension FaultyClient.Fault {
    /// Whether the error is correct for this fault.
    fileprivate func allows(_ error: AccountError) -> Bool {
        switch self {
        case .tooMany: error.code == .rateLimited && error.retryAfter == Self.rest
        // The address may be permanently wrong. Then the user has to correct it.
        case .notFound:
            error.isTransient || [.expired, .unsupported, .rejected, .invalidConfiguration].contains(error.code)
        // The sender of that answer is unknown.
        case .stranger: error.isTransient || [.expired, .invalidCredentials, .rejected].contains(error.code)
        default: error.isTransient || error.code == .expired
        }
    }
}

/// A client whose requests all fail.
private struct FaultyClient: HTTPClient {
    enum Fault: Sendable, CaseIterable {
        case unreachable, cutOff, silent, gatewayPage, proxyPage, halfAnswer, stranger, notFound, tooMany

        static let all = allCases
        /// The waiting time that `tooMany` requests.
        static let rest = Duration.seconds(7)
    }

    var fault: Fault

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        switch fault {
        case .unreachable: throw HTTPError(.unreachable, host: "server", message: "refused")
        case .cutOff: throw HTTPError(.closed, host: "server", message: "closed")
        case .silent: throw HTTPError(.timeout, host: "server", message: "silent")
        case .gatewayPage: return HTTPResponse(status: 503, body: Array("<html>busy</html>".utf8))
        case .proxyPage: return HTTPResponse(status: 200, body: Array("<html>Sign in to this network</html>".utf8))
        case .halfAnswer: return HTTPResponse(status: 200, body: Array("{\"access_tok".utf8))
        // A server in front of the provider's, which requires its own authentication.
        case .stranger: return HTTPResponse(status: 401, body: Array("<html>Who are you?</html>".utf8))
        case .notFound: return HTTPResponse(status: 404, body: Array("<html>Not here</html>".utf8))
        case .tooMany:
            return HTTPResponse(
                status: 429, headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Retry-After", "7")],
                body: Array("{\"message\":\"Too Many Requests\"}".utf8))
        }
    }
}

/// A server that refuses all requests and repeats them in its answer, as some do for developers. No error may quote a secret from such an
/// answer.
public struct EchoingClient: HTTPClient {
    public init() {}

    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let headers = request.headers.map { "\($0.name): \($0.value)" }.joined(separator: " ")
        let echo = String(decoding: request.body, as: UTF8.self) + " " + headers + " " + request.url
        var text = ""
        for scalar in echo.unicodeScalars {
            if scalar == "\\" || scalar == "\"" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        let body = """
            {"error":"invalid_request","error_description":"\(text)","message":"\(text)","details":"\(text)"}
            """
        return HTTPResponse(
            status: 400, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(body.utf8))
    }
}
