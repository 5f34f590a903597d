// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Why the account could not do what was asked, told by cause, so that a wrong password is not an expired session and
/// neither is a network fault.
public struct AccountError: Error, Sendable, CustomStringConvertible {
    /// The cause, to decide by. Messages are for people and may change.
    public var code: Code
    /// One or two sentences: what happened, where, and what to try. Never holds a secret.
    public var message: String
    /// The service's own number (`error_code`), where it gave one.
    public var serverCode: Int?
    /// The service's own words (`description`), where it gave any.
    public var serverMessage: String?
    /// The service's own name for the cause: OAuth's `error`, a portal's exception class.
    public var serverCause: String?
    /// The HTTP status, where there was a response.
    public var status: Int?
    /// Whether a gateway, a proxy or a firewall seems to have answered in place of the service: its answer is no decision of the service.
    public var isFromGateway = false
    /// How long the service asked to be left alone (`Retry-After`), with a 429 or a 503 above all.
    public var retryAfter: Duration?
    /// What the one-time code belongs to that the server wants next (`secondStepRequired`).
    public var challenge: SignInChallenge?
    /// Whose account or session it is about, where that is known: what the account is called here, or the user's name.
    public var account: String?
    /// The reason why a cancelled wait had not ended (`cancelled`), such as "another process still holds …". Callers with a deadline of
    /// their own report it.
    public var unfinished: String?
    /// What the caller can change, where that is known: any one of them helps.
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

    /// A wait that was cancelled.
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

    /// The same, of the account of that name unless one is named already.
    package func about(_ account: String?) -> AccountError {
        var error = self
        error.account = self.account ?? account
        return error
    }

    /// Whether the same call may succeed later without anyone changing anything.
    public var isTransient: Bool {
        [.network, .proxy, .portal, .timeout, .serverFault, .rateLimited, .malformedAnswer].contains(code)
    }
    /// Whether the service itself said no to what was asked: the same request will be refused again. An ended session is none of
    /// these, as the request was not looked at, and neither is a gateway's answer (``isFromGateway``).
    public var isRefusal: Bool {
        !isFromGateway
            && [
                .rejected, .forbidden, .invalidInput, .invalidTag, .mappingRefused, .unknownNode, .unsupported,
                .limitReached, .notForGuests,
            ].contains(code)
    }
}
