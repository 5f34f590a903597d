/// Why the account could not do what was asked, told by cause, so that a wrong password is not an expired session and
/// neither is a network fault.
public struct AccountError: Error, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case invalidCredentials = "invalid_credentials", unknownUser = "unknown_user"
            case unverifiedUser = "unverified_user", passwordResetRequired = "password_reset_required"
            case secondStepRequired = "second_step_required", expired, notSignedIn = "not_signed_in"
            case forbidden, rejected, rateLimited = "rate_limited", network, timeout
            case serverFault = "server_fault", malformedAnswer = "malformed_answer", tls
            case insecureURL = "insecure_url", invalidConfiguration = "invalid_configuration"
            case cannotStore = "cannot_store", storeUnreadable = "store_unreadable"
            case storeReadOnly = "store_read_only", storeAbsent = "store_absent", storeLocked = "store_locked"
            case storeNotAnswering = "store_not_answering", cancelled
        }
        private let value: Value
        /// The fine cause in snake case, as JSON errors carry it in `reason`.
        public var description: String { value.rawValue }

        /// Wrong user name or password (101009).
        public static let invalidCredentials = Code(value: .invalidCredentials)
        public static let unknownUser = Code(value: .unknownUser)
        public static let unverifiedUser = Code(value: .unverifiedUser)
        public static let passwordResetRequired = Code(value: .passwordResetRequired)
        /// The password was right and the server wants a one-time code as well.
        public static let secondStepRequired = Code(value: .secondStepRequired)
        /// The server authoritatively refused the session: sign in again.
        public static let expired = Code(value: .expired)
        public static let notSignedIn = Code(value: .notSignedIn)
        /// The user may not do this (403).
        public static let forbidden = Code(value: .forbidden)
        /// The server refused the request for a reason of its own; see ``AccountError/serverCode``.
        public static let rejected = Code(value: .rejected)
        public static let rateLimited = Code(value: .rateLimited)
        /// No connection, or it broke. Trying again may work.
        public static let network = Code(value: .network)
        public static let timeout = Code(value: .timeout)
        public static let serverFault = Code(value: .serverFault)
        /// The answer is not what the service sends: a proxy's page, broken JSON.
        public static let malformedAnswer = Code(value: .malformedAnswer)
        public static let tls = Code(value: .tls)
        /// Plain http to another machine.
        public static let insecureURL = Code(value: .insecureURL)
        public static let invalidConfiguration = Code(value: .invalidConfiguration)
        public static let cannotStore = Code(value: .cannotStore)
        /// What is stored as a session is none, or others may read it.
        public static let storeUnreadable = Code(value: .storeUnreadable)
        /// The store hands out sessions and takes none, like a systemd credential.
        public static let storeReadOnly = Code(value: .storeReadOnly)
        /// The service that keeps secrets is not there.
        public static let storeAbsent = Code(value: .storeAbsent)
        /// The service that keeps secrets waits for its owner to unlock it.
        public static let storeLocked = Code(value: .storeLocked)
        /// The service that keeps secrets is there and said nothing in time.
        public static let storeNotAnswering = Code(value: .storeNotAnswering)
        public static let cancelled = Code(value: .cancelled)
    }

    public var code: Code
    /// One or two sentences: what happened, where, and what to try. Never holds a secret.
    public var message: String
    /// The service's own number (`error_code`), where it gave one.
    public var serverCode: Int?
    /// The service's own words (`description`), where it gave any.
    public var serverMessage: String?
    /// The HTTP status, where there was a response.
    public var status: Int?
    /// How long the service asked to be left alone (`Retry-After`), with a 429 or a 503 above all.
    public var retryAfter: Duration?
    /// What the one-time code belongs to that the server wants next (`secondStepRequired`).
    public var challenge: SignInChallenge?

    public init(
        _ code: Code, message: String, serverCode: Int? = nil, serverMessage: String? = nil, status: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.serverCode = serverCode
        self.serverMessage = serverMessage
        self.status = status
    }

    public var description: String {
        var text = "\(code): \(message)"
        if let serverMessage { text += " [\(serverMessage)]" }
        if let serverCode { text += " [\(serverCode)]" }
        return text
    }

    /// Whether the same call may succeed later without anyone changing anything.
    public var isTransient: Bool {
        [.network, .timeout, .serverFault, .rateLimited, .malformedAnswer].contains(code)
    }
}
