// SPDX-License-Identifier: Apache-2.0
extension AccountError {
    /// The kind of failure. There is one for each remedy that a user or a program has.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case invalidCredentials = "invalid_credentials", unknownUser = "unknown_user"
            case unverifiedUser = "unverified_user", passwordResetRequired = "password_reset_required"
            case secondStepRequired = "second_step_required", expired, notSignedIn = "not_signed_in"
            case signInFailed = "sign_in_failed", wrongCode = "wrong_code", codeExpired = "code_expired"
            case challengeExpired = "challenge_expired", accountExists = "account_exists"
            case alreadyVerified = "already_verified", phoneNumberInUse = "phone_number_in_use"
            case unverifiedPhoneNumber = "unverified_phone_number", notForGuests = "not_for_guests"
            case weakPassword = "weak_password", invalidUserName = "invalid_user_name"
            case invalidPhoneNumber = "invalid_phone_number", invalidName = "invalid_name"
            case invalidTag = "invalid_tag", invalidLocale = "invalid_locale", invalidInput = "invalid_input"
            case unknownNode = "unknown_node", mappingRefused = "mapping_refused"
            case forbidden, rejected, unsupported, limitReached = "limit_reached", rateLimited = "rate_limited"
            case network, timeout, proxy, proxyRefused = "proxy_refused", portal = "sign_in_page"
            case legalBlock = "legal_block"
            case serverFault = "server_fault", malformedAnswer = "malformed_answer", tls
            case insecureURL = "insecure_url", invalidConfiguration = "invalid_configuration"
            case accessDenied = "access_denied", invalidGrant = "invalid_grant", noAnswer = "no_answer"
            case untrustedAnswer = "untrusted_answer", cannotListen = "cannot_listen"
            case usedCode = "used_code", clientRefused = "client_refused", missingParameter = "missing_parameter"
            case wrongContext = "wrong_context", insufficientScope = "insufficient_scope", moved, abandoned
            case notRenewable = "not_renewable", webSessionRequired = "web_session_required"
            case pending, unreadableDefinition = "unreadable_definition", unknownProvider = "unknown_provider"
            case cannotStore = "cannot_store", storeUnreadable = "store_unreadable"
            case storeReadOnly = "store_read_only", storeAbsent = "store_absent", storeLocked = "store_locked"
            case storeNotAnswering = "store_not_answering", cancelled
        }
        private let value: Value
        /// The name in snake case, which JSON errors have in `reason`.
        public var description: String { value.rawValue }

        private init(value: Value) { self.value = value }

        /// Returns the code with that name, as provider definitions write it; nil if there is none.
        public init?(reason: String) {
            guard let value = Value(rawValue: reason) else { return nil }
            self.value = value
        }

        /// The user name or password is wrong (101009).
        public static let invalidCredentials = Code(value: .invalidCredentials)
        /// The provider has no account with that name: correct it, or sign up first.
        public static let unknownUser = Code(value: .unknownUser)
        /// The account's address is not confirmed: enter the code, or follow the link, that was sent to it.
        public static let unverifiedUser = Code(value: .unverifiedUser)
        /// The provider requires a new password before the user can sign in: reset it there.
        public static let passwordResetRequired = Code(value: .passwordResetRequired)
        /// The server refused the sign-in and gave no other reason (101016).
        public static let signInFailed = Code(value: .signInFailed)
        /// The password was right, and the server requires a one-time code as well.
        public static let secondStepRequired = Code(value: .secondStepRequired)
        /// The service itself refused the session: sign in again.
        public static let expired = Code(value: .expired)
        /// The store has no session with this key, or it is of another provider: sign in first. Nothing was sent.
        public static let notSignedIn = Code(value: .notSignedIn)

        /// The code is not the one that was sent. Another try is allowed.
        public static let wrongCode = Code(value: .wrongCode)
        /// The code has expired: ask for a new one.
        public static let codeExpired = Code(value: .codeExpired)
        /// The sign-in that the code belongs to has ended: start again.
        public static let challengeExpired = Code(value: .challengeExpired)

        /// An account with this user name exists.
        public static let accountExists = Code(value: .accountExists)
        /// The account is already confirmed.
        public static let alreadyVerified = Code(value: .alreadyVerified)
        /// The telephone number belongs to another account.
        public static let phoneNumberInUse = Code(value: .phoneNumberInUse)
        /// The user has no confirmed telephone number.
        public static let unverifiedPhoneNumber = Code(value: .unverifiedPhoneNumber)
        /// A guest must become an account with a name first.
        public static let notForGuests = Code(value: .notForGuests)

        // These codes are for input that breaks a rule. Most is refused before anything is sent; then there is no server code.
        /// A new password breaks the rule in the message, such as RainMaker's of 8 to 256 characters.
        public static let weakPassword = Code(value: .weakPassword)
        /// The provider does not accept user names of this form. RainMaker's is an e-mail address or a telephone number.
        public static let invalidUserName = Code(value: .invalidUserName)
        /// A telephone number is not `+`, country code and number, 15 digits at most (ITU-T E.164).
        public static let invalidPhoneNumber = Code(value: .invalidPhoneNumber)
        /// A person's name is empty, or has more than 256 characters.
        public static let invalidName = Code(value: .invalidName)
        /// A tag is not `key:value` with text on both sides, or no tag was given.
        public static let invalidTag = Code(value: .invalidTag)
        /// A locale is not written like `en` or `en-us`, or the cloud does not know it.
        public static let invalidLocale = Code(value: .invalidLocale)
        /// Input is missing or malformed, and no other code fits. The message names it.
        public static let invalidInput = Code(value: .invalidInput)

        /// The cloud does not know the node, or it is not in this account.
        public static let unknownNode = Code(value: .unknownNode)
        /// The cloud refuses to map the node to the user.
        public static let mappingRefused = Code(value: .mappingRefused)

        /// The user may not do this (403).
        public static let forbidden = Code(value: .forbidden)
        /// The server refused the request for another reason; see ``AccountError/serverCode``.
        public static let rejected = Code(value: .rejected)
        /// The deployment does not have this call, or not in the version of this client.
        public static let unsupported = Code(value: .unsupported)
        /// A limit has been reached, such as telephone numbers or tries.
        public static let limitReached = Code(value: .limitReached)
        /// The service asks to slow down (usually HTTP 429). ``AccountError/retryAfter`` has the time, if the service gives one.
        public static let rateLimited = Code(value: .rateLimited)
        /// There is no connection, or it broke. Trying again may work.
        public static let network = Code(value: .network)
        /// The configured proxy cannot be reached, or cannot reach the service. Trying again may work.
        public static let proxy = Code(value: .proxy)
        /// The proxy does not serve this machine, or the configured host is not a proxy.
        public static let proxyRefused = Code(value: .proxyRefused)
        /// The network requires a sign-in before it gives access to the internet (511).
        public static let portal = Code(value: .portal)
        /// The service is not available here for legal reasons (451).
        public static let legalBlock = Code(value: .legalBlock)
        /// A deadline passed: of a request, of a whole call, or while another process held the store's lock. Trying again may work.
        public static let timeout = Code(value: .timeout)
        /// The service, or a server in front of it, has an internal fault (usually a 5xx). Trying again later may work.
        public static let serverFault = Code(value: .serverFault)
        /// The answer is not one that the service sends: a proxy's page, broken JSON.
        public static let malformedAnswer = Code(value: .malformedAnswer)
        /// The server's certificate is not trusted, or the TLS connection failed.
        public static let tls = Code(value: .tls)
        /// The URL is plain http to another machine.
        public static let insecureURL = Code(value: .insecureURL)
        /// A setting of the caller or of the provider cannot work: an address, a path, a key. It must be changed.
        public static let invalidConfiguration = Code(value: .invalidConfiguration)

        /// The user, or the server on their behalf, refused at the sign-in page.
        public static let accessDenied = Code(value: .accessDenied)
        /// The sign-in page's code was used before, is too old, or belongs to another sign-in.
        public static let invalidGrant = Code(value: .invalidGrant)
        /// The sign-in page did not answer in time, or its answer cannot arrive.
        public static let noAnswer = Code(value: .noAnswer)
        /// The answer is well-formed but meant for another client: another audience, issuer or nonce.
        public static let untrustedAnswer = Code(value: .untrustedAnswer)
        /// The code was right and has been redeemed before.
        public static let usedCode = Code(value: .usedCode)
        /// The client may not do this, whoever its user is: the data is another merchant's, or the client lacks the grant.
        public static let clientRefused = Code(value: .clientRefused)
        /// A setting that the provider needs was not given. The message names it.
        public static let missingParameter = Code(value: .missingParameter)
        /// The stored session is for another server, company or institution than the configured one.
        public static let wrongContext = Code(value: .wrongContext)
        /// The access token is valid but does not include this right.
        public static let insufficientScope = Code(value: .insufficientScope)
        /// The service is at another address: credentials are not sent after a redirect.
        public static let moved = Code(value: .moved)
        /// The user came back from the sign-in page without having signed in.
        public static let abandoned = Code(value: .abandoned)
        /// The session lasts until its tokens expire: this client may not renew it. The message gives the cause.
        public static let notRenewable = Code(value: .notRenewable)
        /// The service answers only within a signed-in web session, which a native sign-in does not create.
        public static let webSessionRequired = Code(value: .webSessionRequired)
        /// The user has not answered yet (RFC 8628, `authorization_pending`).
        public static let pending = Code(value: .pending)
        /// The file is not a provider's definition: not JSON, of a later version, or incomplete.
        public static let unreadableDefinition = Code(value: .unreadableDefinition)
        /// No provider, built in or added, has that name.
        public static let unknownProvider = Code(value: .unknownProvider)
        /// A browser's answer cannot be received: the port is in use, or the desktop does not start the handler.
        public static let cannotListen = Code(value: .cannotListen)

        /// The store could not save a session: a full disk, a folder without write permission. The message names the cause.
        public static let cannotStore = Code(value: .cannotStore)
        /// The stored data is not a session, or other users may read it.
        public static let storeUnreadable = Code(value: .storeUnreadable)
        /// The store only returns sessions and cannot save any, like a systemd credential.
        public static let storeReadOnly = Code(value: .storeReadOnly)
        /// The service that keeps secrets is not there.
        public static let storeAbsent = Code(value: .storeAbsent)
        /// The service that keeps secrets waits for its owner to unlock it.
        public static let storeLocked = Code(value: .storeLocked)
        /// The service that keeps secrets is there but did not answer in time.
        public static let storeNotAnswering = Code(value: .storeNotAnswering)
        /// The calling task was cancelled, or the user gave up the sign-in.
        public static let cancelled = Code(value: .cancelled)
    }
}
