// SPDX-License-Identifier: Apache-2.0
extension AccountError {
    /// The cause, one for each thing that a user or a program can do about it.
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
        /// The fine cause in snake case, as JSON errors carry it in `reason`.
        public var description: String { value.rawValue }

        private init(value: Value) { self.value = value }

        /// The code of that name, as a provider's definition writes it; nil if there is none.
        public init?(reason: String) {
            guard let value = Value(rawValue: reason) else { return nil }
            self.value = value
        }

        /// Wrong user name or password (101009).
        public static let invalidCredentials = Code(value: .invalidCredentials)
        /// The provider has no account under that name: correct it, or sign up first.
        public static let unknownUser = Code(value: .unknownUser)
        /// The account's address is not confirmed: enter the code, or follow the link, that was sent to it.
        public static let unverifiedUser = Code(value: .unverifiedUser)
        /// The provider wants a new password before it lets the user in: reset it there.
        public static let passwordResetRequired = Code(value: .passwordResetRequired)
        /// The server did not let the user in and says no more than that (101016).
        public static let signInFailed = Code(value: .signInFailed)
        /// The password was right and the server wants a one-time code as well.
        public static let secondStepRequired = Code(value: .secondStepRequired)
        /// The server authoritatively refused the session: sign in again.
        public static let expired = Code(value: .expired)
        /// The store has no session under this key, or one of another provider: sign in first. Nothing was sent.
        public static let notSignedIn = Code(value: .notSignedIn)

        /// The code that was entered is not the one that was sent. Another try is allowed.
        public static let wrongCode = Code(value: .wrongCode)
        /// The code was right once; ask for a new one.
        public static let codeExpired = Code(value: .codeExpired)
        /// The sign-in that the code belongs to is no longer waiting; begin again.
        public static let challengeExpired = Code(value: .challengeExpired)

        /// Somebody has an account under this user name.
        public static let accountExists = Code(value: .accountExists)
        /// Nothing is left to confirm.
        public static let alreadyVerified = Code(value: .alreadyVerified)
        /// The telephone number belongs to another account.
        public static let phoneNumberInUse = Code(value: .phoneNumberInUse)
        /// The user has no telephone number that was confirmed.
        public static let unverifiedPhoneNumber = Code(value: .unverifiedPhoneNumber)
        /// A guest has to become an account with a name first.
        public static let notForGuests = Code(value: .notForGuests)

        // What was entered breaks a rule. Most of these are found before anything is sent; then there is no server code.
        /// A new password breaks the rule that the message says, such as RainMaker's of 8 to 256 characters.
        public static let weakPassword = Code(value: .weakPassword)
        /// A user name has a form that the provider does not take: RainMaker's is an e-mail address or a telephone number.
        public static let invalidUserName = Code(value: .invalidUserName)
        /// A telephone number is not `+`, country code and number, 15 digits at most (ITU-T E.164).
        public static let invalidPhoneNumber = Code(value: .invalidPhoneNumber)
        /// A person's name has no character, or more than 256.
        public static let invalidName = Code(value: .invalidName)
        /// A tag is not `key:value`, both with something in them, or none was given.
        public static let invalidTag = Code(value: .invalidTag)
        /// A locale is not written like `en` or `en-us`, or the cloud does not know it.
        public static let invalidLocale = Code(value: .invalidLocale)
        /// Something is missing or malformed that has no code of its own; the message names it.
        public static let invalidInput = Code(value: .invalidInput)

        /// The cloud does not know the node, or it is not in this account.
        public static let unknownNode = Code(value: .unknownNode)
        /// The cloud does not tie the node to the user.
        public static let mappingRefused = Code(value: .mappingRefused)

        /// The user may not do this (403).
        public static let forbidden = Code(value: .forbidden)
        /// The server refused the request for a reason of its own; see ``AccountError/serverCode``.
        public static let rejected = Code(value: .rejected)
        /// The deployment does not have this, or not in the version that is spoken here.
        public static let unsupported = Code(value: .unsupported)
        /// There may be no more of it: telephone numbers, tries.
        public static let limitReached = Code(value: .limitReached)
        /// The service asks to slow down (429 as a rule). ``AccountError/retryAfter`` says how long, where the service does.
        public static let rateLimited = Code(value: .rateLimited)
        /// No connection, or it broke. Trying again may work.
        public static let network = Code(value: .network)
        /// The proxy that this machine is to use cannot be reached, or cannot reach the service. Trying again may work.
        public static let proxy = Code(value: .proxy)
        /// The proxy does not serve this machine, or what is set as one is not a proxy.
        public static let proxyRefused = Code(value: .proxyRefused)
        /// The network wants a sign-in before it lets anybody out (511).
        public static let portal = Code(value: .portal)
        /// The service is not available here for legal reasons (451).
        public static let legalBlock = Code(value: .legalBlock)
        /// A deadline passed: of a request, of a whole call, or while another process held the store's lock. Trying again may work.
        public static let timeout = Code(value: .timeout)
        /// The service, or something in front of it, has a fault of its own (a 5xx as a rule). Trying again later may work.
        public static let serverFault = Code(value: .serverFault)
        /// The answer is not what the service sends: a proxy's page, broken JSON.
        public static let malformedAnswer = Code(value: .malformedAnswer)
        /// The server's certificate is not trusted, or no TLS connection came about.
        public static let tls = Code(value: .tls)
        /// Plain http to another machine.
        public static let insecureURL = Code(value: .insecureURL)
        /// A setting of the caller or of the provider cannot work: an address, a path, a key. Nothing but changing it helps.
        public static let invalidConfiguration = Code(value: .invalidConfiguration)

        /// The person, or the server for them, said no at the sign-in page.
        public static let accessDenied = Code(value: .accessDenied)
        /// The sign-in page's code is used up, too old, or belongs to another sign-in.
        public static let invalidGrant = Code(value: .invalidGrant)
        /// The sign-in page has not answered in time, or nobody will bring the answer.
        public static let noAnswer = Code(value: .noAnswer)
        /// The answer is well-formed and was not meant for us: another audience, issuer or nonce.
        public static let untrustedAnswer = Code(value: .untrustedAnswer)
        /// The code was right and has been redeemed before.
        public static let usedCode = Code(value: .usedCode)
        /// The client may not have this, whoever its user is: another merchant's, or without the grant.
        public static let clientRefused = Code(value: .clientRefused)
        /// A setting that the provider cannot do without was not given; the message names it.
        public static let missingParameter = Code(value: .missingParameter)
        /// The stored session is good for another server, company or institution than the one configured.
        public static let wrongContext = Code(value: .wrongContext)
        /// The access token is good and does not go that far.
        public static let insufficientScope = Code(value: .insufficientScope)
        /// The service is at another address: credentials are not sent after a redirect.
        public static let moved = Code(value: .moved)
        /// The person came back from the sign-in page without having signed in.
        public static let abandoned = Code(value: .abandoned)
        /// The session lives until its tokens end: this client may not renew it. The message says why.
        public static let notRenewable = Code(value: .notRenewable)
        /// The service answers only within a signed-in web session, which a native sign-in does not make.
        public static let webSessionRequired = Code(value: .webSessionRequired)
        /// The person has not answered yet (RFC 8628, `authorization_pending`).
        public static let pending = Code(value: .pending)
        /// A provider's definition is not one: not JSON, of a later version, or with something missing.
        public static let unreadableDefinition = Code(value: .unreadableDefinition)
        /// No provider has that name, built in or added.
        public static let unknownProvider = Code(value: .unknownProvider)
        /// A browser's answer cannot be received: the port is taken, the desktop starts no handler.
        public static let cannotListen = Code(value: .cannotListen)

        /// The store could not keep a session: a full disk, a folder without the right to write. The message says which.
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
        /// The calling task was cancelled, or a person gave the sign-in up.
        public static let cancelled = Code(value: .cancelled)
    }
}
