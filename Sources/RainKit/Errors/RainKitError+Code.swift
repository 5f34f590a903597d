// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount

extension RainKitError {
    /// The outcome of a call: the exit status of `rainctl`, and the `code` in JSON errors and reports.
    ///
    /// `docs/exit-codes.md` explains each of them. Numbers from 64 on are those of BSD's `sysexits.h`.
    public enum Code: Int32, CaseIterable, Sendable {
        /// No error. Reports and events use it.
        case ok = 0
        /// A failure that none of the others describes.
        case other = 1
        /// The board refused the proof of possession.
        case wrongPop = 10
        /// The access point refused the board, in most cases because of a wrong Wi-Fi password.
        case wifiAuthFailed = 11
        /// The board does not hear the network.
        case wifiApNotFound = 12
        /// The cloud did not confirm that the board belongs to the user.
        case mappingFailed = 13
        /// The board answered before, and no longer does.
        case deviceLost = 14
        /// The board's security scheme is not the one that was asked for.
        case securityMismatch = 15
        /// The time that the caller allowed is over.
        case deadline = 16
        /// The board has no certificate for the cloud, and could not get one.
        case claimNeeded = 17
        /// Some of several boards failed.
        case batchPartial = 20
        /// The call itself is wrong: an argument, a name, a missing setting.
        case usage = 64
        /// Data cannot be used: a file, a value, an answer.
        case badData = 65
        /// A board, a service or a device of this machine is not there.
        case unavailable = 69
        /// Something could not be written.
        case cannotWrite = 73
        /// A failure that may be gone at the next try: no network, a server in trouble.
        case temporary = 75
        /// The user has to sign in, or may not do this.
        case auth = 77
        /// The configuration is wrong: an address, a certificate, a deployment's settings.
        case config = 78
        /// The caller, or a person, cancelled it.
        case cancelled = 130

        /// The name in JSON documents, such as `wrong_pop`.
        public var name: String {
            switch self {
            case .ok: "ok"
            case .other: "other"
            case .wrongPop: "wrong_pop"
            case .wifiAuthFailed: "wifi_auth_failed"
            case .wifiApNotFound: "wifi_ap_not_found"
            case .mappingFailed: "mapping_failed"
            case .deviceLost: "device_lost"
            case .securityMismatch: "security_mismatch"
            case .deadline: "deadline"
            case .claimNeeded: "claim_needed"
            case .batchPartial: "batch_partial"
            case .usage: "usage"
            case .badData: "bad_data"
            case .unavailable: "unavailable"
            case .cannotWrite: "cannot_write"
            case .temporary: "temporary"
            case .auth: "auth"
            case .config: "config"
            case .cancelled: "cancelled"
            }
        }

        /// What happened, in a few words without a full stop: for tables, help and manuals.
        public var meaning: String {
            switch self {
            case .ok: "success"
            case .other: "a failure without its own code"
            case .wrongPop: "the board refused the proof of possession"
            case .wifiAuthFailed: "the access point refused the board"
            case .wifiApNotFound: "the board cannot find that network"
            case .mappingFailed: "the cloud did not confirm the mapping, or the board does not reach this cloud"
            case .deviceLost: "the board stopped answering, or its connection broke"
            case .securityMismatch:
                "the board does not use the requested security scheme, or is less secure than expected"
            case .deadline: "the time limit is over"
            case .claimNeeded: "the board has no cloud certificate and could not get one"
            case .batchPartial: "some of several boards failed, or did not report in time"
            case .usage: "the request is wrong or incomplete"
            case .badData: "a file, QR code or answer cannot be read"
            case .unavailable: "a port, host, board or service is missing or does not answer"
            case .cannotWrite: "a file or the result could not be written"
            case .temporary: "a fault that may go away by itself"
            case .auth: "not signed in, refused or expired, or a wrong code"
            case .config: "a setting that cannot work"
            case .cancelled: "cancelled, by the caller or by a person"
            }
        }

        /// The status of an error between this program and a board.
        public init(_ error: BoardError) {
            self =
                switch error.code {
                case .unavailable, .neverAnswered: .unavailable
                case .busy, .joining: .temporary
                case .deviceLost, .mayBeJoining: .deviceLost
                case .wrongProofOfPossession: .wrongPop
                case .securityMismatch: .securityMismatch
                case .wifiAuthenticationFailed: .wifiAuthFailed
                case .wifiNetworkNotFound: .wifiApNotFound
                case .claimFailed, .claimInterrupted: .claimNeeded
                case .invalidArgument: .usage
                case .cancelled: .cancelled
                // More data for an endpoint than the transport carries.
                case .unsupported where error.reason == "too_long": .badData
                case .malformed where ["bad_data", "qr_code_as_proof"].contains(error.reason): .badData
                default: .other
                }
        }

        /// The status of an error between this program and a cloud or an identity provider.
        public init(_ error: AccountError) {
            self =
                switch error.code {
                case .invalidCredentials, .unknownUser, .unverifiedUser, .passwordResetRequired, .secondStepRequired,
                    .expired, .notSignedIn, .signInFailed, .wrongCode, .codeExpired, .challengeExpired,
                    .accessDenied, .invalidGrant, .untrustedAnswer, .usedCode, .insufficientScope, .abandoned,
                    .wrongContext, .webSessionRequired, .pending:
                    .auth
                case .weakPassword, .invalidUserName, .invalidPhoneNumber, .invalidName, .invalidTag, .invalidLocale,
                    .invalidInput, .missingParameter, .unknownProvider:
                    .usage
                case .network, .proxy, .portal, .timeout, .serverFault, .rateLimited, .malformedAnswer: .temporary
                case .tls, .insecureURL, .invalidConfiguration, .unsupported, .notRenewable, .clientRefused, .moved,
                    .unreadableDefinition, .proxyRefused:
                    .config
                case .cannotStore, .storeReadOnly: .cannotWrite
                case .storeAbsent, .storeLocked, .storeNotAnswering, .cannotListen: .unavailable
                case .noAnswer: .deadline
                case .storeUnreadable: .badData
                case .cancelled: .cancelled
                default: .other
                }
        }
    }
}
