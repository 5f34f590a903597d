// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The reason why a request for the account failed. Its ``code`` separates a wrong password from an expired session and a network fault.
public struct AccountError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for decisions. Messages are for people and may change.
    public var code: Code
    /// One or two sentences for people: what happened, where, and what to try. It never contains a secret.
    public var message: String
    /// The service's own number (`error_code`), if it gave one.
    public var serverCode: Int?
    /// The service's own message (`description`), if it gave one.
    public var serverMessage: String?
    /// The service's own name for the cause: OAuth's `error`, or a portal's exception class.
    public var serverCause: String?
    /// The HTTP status, if there was a response.
    public var status: Int?
    /// Whether a gateway, proxy or firewall seems to have answered instead of the service. Such an answer is not a decision of the service.
    public var isFromGateway = false
    /// How long the service asks to wait (`Retry-After`), mostly with a 429 or a 503.
    public var retryAfter: Duration?
    /// The sign-in that waits for a one-time code (`secondStepRequired`).
    public var challenge: SignInChallenge?
    /// The affected account or user, if known: the account's local name, or the user's name.
    public var account: String?
    /// The reason why a cancelled wait (`cancelled`) had not ended, such as "another process still holds …". Callers with a deadline of
    /// their own report it.
    public var unfinished: String?
    /// The server, or the proxy before it, that had not answered a request which was given up (`cancelled`).
    package var silentHost: String?
    /// The changes that a caller can make, if known. Any one of them helps.
    public var remedies: [Remedy]

    public init(
        _ code: Code, message: String, serverCode: Int? = nil, serverMessage: String? = nil, status: Int? = nil,
        remedies: [Remedy] = []
    ) {
        self.code = code
        self.message = message
        self.serverCode = serverCode
        self.serverMessage = serverMessage
        self.status = status
        self.remedies = remedies
    }

    /// Creates the error of a cancelled wait.
    /// - Parameter unfinished: ``unfinished``.
    package init(_ code: Code, message: String, unfinished: String) {
        self.init(code, message: message)
        self.unfinished = unfinished
    }

    public var description: String {
        var text = "\(code): \(message)"
        if let serverMessage { text += " [\(serverMessage)]" }
        if let serverCode { text += " [\(serverCode)]" }
        return text
    }

    /// Returns the same error for this account, unless it already names one.
    package func about(_ account: String?) -> AccountError {
        var error = self
        error.account = self.account ?? account
        return error
    }

    /// Whether the same call may succeed later without a change by anyone.
    public var isTransient: Bool {
        [.network, .proxy, .portal, .timeout, .serverFault, .rateLimited, .malformedAnswer].contains(code)
    }
    /// Whether the service itself refused the request, so that it will refuse the same request again. An ended session does not count,
    /// because the service did not read the request. Neither does a gateway's answer (``isFromGateway``).
    public var isRefusal: Bool {
        !isFromGateway
            && [
                .rejected, .forbidden, .invalidInput, .invalidTag, .mappingRefused, .unknownNode, .unsupported,
                .limitReached, .notForGuests,
            ].contains(code)
    }
}
