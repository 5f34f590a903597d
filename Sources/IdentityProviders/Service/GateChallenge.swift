// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import Synchronization

/// A challenge of a server in front of the provider for its own name and password (HTTP 401 or 407), such as a company's reverse proxy.
extension AuthenticationChallenge {
    /// The header that answers the challenge.
    var header: String { isProxy ? "Proxy-Authorization" : "Authorization" }

    /// Returns whether a server in front of the provider asks, and not the provider.
    /// - Parameters:
    ///   - request: the refused request.
    ///   - realm: the provider's own realm, if it has one.
    func isFromGate(_ request: HTTPRequest, realm own: String?) -> Bool {
        guard wantsPassword, !isProxy else { return isProxy }
        // A provider that reads the client's name and password from this header refuses them in the same way.
        let isOurs =
            request.headers.first { $0.name.lowercased() == "authorization" }?.value.lowercased().hasPrefix("basic ")
            == true && own == nil
        return !isOurs && (own == nil || realm != own)
    }

    // No error here has a status. The provider has not read the request, so the session must not be renewed.

    /// The error if nobody answered, or the answer was refused.
    fileprivate var refusal: AccountError {
        let what =
            previousFailureCount > 0
            ? "does not accept the given name and password" : "asks for its own name and password"
        return gateError(.invalidCredentials, "\(asker) \(what) (HTTP \(status))")
    }

    /// Returns the error for a request that already uses the header of the answer.
    /// - Parameter mode: the provider's mode that can answer, if there is one.
    func conflict(mode: String?) -> AccountError {
        let advice = mode.map { ": sign in with the mode \($0), which does not use this header" } ?? ""
        return gateError(
            .unsupported,
            "\(asker) asks for its own name and password (HTTP \(status)). In this mode, the header for them already carries the session's credentials\(advice)"
        )
    }

    fileprivate var unknownScheme: AccountError {
        gateError(
            .unsupported,
            "\(asker) asks for a sign-in by \(presentable(scheme)) (HTTP \(status)), but this program supports only basic"
        )
    }

    private func gateError(_ code: AccountError.Code, _ message: String) -> AccountError {
        var error = AccountError(code, message: message, remedies: [.gateCredentials])
        error.isFromGateway = true
        return error
    }
}

extension ProviderTools {
    /// How often the resolver is asked for one request. A resolver that never gives up could otherwise lock the account.
    private static let challengeLimit = 3

    /// Returns the header that answers a challenge, from the program's resolver.
    func answer(_ challenge: AuthenticationChallenge) async throws(AccountError) -> HTTPHeader {
        var answer = ChallengeAnswer.performDefaultHandling
        if let challenges, challenge.previousFailureCount < Self.challengeLimit {
            answer = await challenges.resolve(challenge)
        }
        switch answer {
        case .useCredential(let user, let password):
            guard challenge.scheme == "basic" else { throw challenge.unknownScheme }
            return HTTPHeader(
                challenge.header, BasicAuthorization.value(user: user, password: password).revealString())
        case .performDefaultHandling: throw challenge.refusal
        case .cancel:
            throw AccountError(
                .cancelled, message: "cancelled when \(challenge.host) asked for a name and password")
        }
    }
}

/// The header that a server in front accepted in an earlier request. It contains a name and a password, so it is sent to no other host. All
/// copies of a provider share it, and it is stored with the tokens.
final class GatePass: Sendable {
    private static let (name, value, host) = ("preAuthorizationHeader", "preAuthorization", "preAuthorizationHost")

    private struct Pass: Sendable {
        let header: HTTPHeader
        let host: String

        init(_ header: HTTPHeader, for host: String) {
            self.header = header
            self.host = host
        }

        init?(_ tokens: Tokens, host usual: String?) {
            guard let name = tokens[GatePass.name], let value = tokens[GatePass.value],
                let host = tokens[GatePass.host] ?? usual
            else { return nil }
            self.init(HTTPHeader(name, value), for: host)
        }

        func add(to request: inout HTTPRequest, for host: String?) {
            guard host == self.host else { return }
            let name = header.name.lowercased()
            if !request.headers.contains(where: { $0.name.lowercased() == name }) { request.headers.append(header) }
        }
    }

    private let pass = Mutex<Pass?>(nil)

    func set(_ header: HTTPHeader, for host: String) { pass.withLock { $0 = Pass(header, for: host) } }

    /// Forgets the header, if the server in front no longer accepts it.
    func forget(for host: String) { pass.withLock { if $0?.host == host { $0 = nil } } }

    /// Reads the header that was stored with the tokens of an earlier sign-in.
    /// - Parameter host: the provider's host. Earlier versions did not store it.
    func learn(from tokens: Tokens, host: String?) {
        if let found = Pass(tokens, host: host) { pass.withLock { $0 = found } }
    }

    func keep(in tokens: inout Tokens) {
        guard let pass = pass.withLock({ $0 }) else { return }
        tokens[Self.name] = pass.header.name
        tokens[Self.value] = pass.header.value
        tokens[Self.host] = pass.host
    }

    /// Adds the header. A request that already has this header keeps its own.
    func apply(to request: inout HTTPRequest, for host: String) {
        if let pass = pass.withLock({ $0 }) { pass.add(to: &request, for: host) }
    }

    static func apply(_ tokens: Tokens, to request: inout HTTPRequest, for host: String?, usual: String?) {
        Pass(tokens, host: usual)?.add(to: &request, for: host)
    }

    fileprivate static func isKept(with tokens: Tokens) -> Bool { tokens[value] != nil }
}

extension Tokens {
    /// Whether these contain a password: the user's, or that of a server in front of the provider.
    package var holdPassword: Bool { kind != .oauth || GatePass.isKept(with: self) }
}

/// Builds an `Authorization` header from a name and a password, unchanged (RFC 7617). OAuth 2.0 would escape both halves first; portals do
/// not.
enum BasicAuthorization {
    static func value(user: String, password: Secret) -> Secret {
        var pair = Array(user.utf8)
        pair.append(UInt8(ascii: ":"))
        password.reveal { pair += $0 }
        defer { for index in pair.indices { pair[index] = 0 } }
        return Secret("Basic ".utf8 + Base64.encoded(pair))
    }
}
