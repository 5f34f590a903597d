// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// The sent and unused codes of users, by purpose. A value without a clock; times are in milliseconds.
struct VerificationCodes: Codable, Sendable, Equatable {
    struct Pending: Codable, Sendable, Equatable {
        var userID: String
        /// The value that takes effect with the right code: a new phone number, a new user name.
        var target: String?
        fileprivate var hash: [UInt8]
        fileprivate var expiresAt: Int64
        fileprivate var failures = 0
    }

    enum Verdict: Equatable {
        /// The code is used up.
        case right(Pending)
        case wrong
        case expired
        /// No code was sent, or it was used.
        case missing
        /// There were too many wrong attempts, so this code is no longer accepted.
        case exhausted
    }

    /// The kind and the holder of a code. There is one code at a time for each pair.
    struct Key: Sendable {
        fileprivate var text: String

        /// - Parameter holder: a user's id, or the handle of a sign-in that waits for the code.
        init(_ kind: Mailbox.Kind, _ holder: String) {
            text = "\(kind.rawValue) \(Hex.text(OpenSSLHashes.sha256(Array(holder.utf8))))"
        }
    }

    private static let maximumFailures = 5
    /// The maximum number of codes. Beyond it the oldest are dropped.
    private static let maximum = 1_000

    private var pending: [String: Pending] = [:]

    /// Makes a new code of six digits, which replaces an earlier one.
    fileprivate mutating func issue(
        _ key: Key, userID: String, target: String? = nil, lifetime: Int64, at now: Int64
    ) -> String {
        if pending.count >= Self.maximum {
            pending = pending.filter { $0.value.expiresAt > now }
            if pending.count >= Self.maximum, let oldest = pending.min(by: { $0.value.expiresAt < $1.value.expiresAt })
            {
                pending[oldest.key] = nil
            }
        }
        var random = OpenSSLRandom()
        // 2^64 is not a multiple of a million: the bias is 1 in 10^13.
        let digits = String(random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000)
        let code = String(repeating: "0", count: 6 - digits.count) + digits
        pending[key.text] = Pending(
            userID: userID, target: target, hash: Self.hash(code, key), expiresAt: now + lifetime)
        return code
    }

    mutating func redeem(_ key: Key, code: String, at now: Int64) -> Verdict {
        guard let known = pending[key.text] else { return .missing }
        guard known.failures < Self.maximumFailures else { return .exhausted }
        guard known.expiresAt > now else { return .expired }
        guard equalInConstantTime(known.hash, Self.hash(code, key)) else {
            pending[key.text]?.failures += 1
            return .wrong
        }
        pending[key.text] = nil
        return .right(known)
    }

    mutating func removeAll(of userID: String) { pending = pending.filter { $0.value.userID != userID } }

    private static func hash(_ code: String, _ key: Key) -> [UInt8] {
        OpenSSLHashes.sha256(Array("\(key.text) \(code)".utf8))
    }
}

extension CloudAPI {
    /// Sends a user a code for ``redeem(_:for:holder:refusals:then:)``.
    ///
    /// - Parameters:
    ///   - holder: the id of the user who must enter the code, or the handle of a sign-in that waits for it.
    ///   - target: the value that takes effect with the right code, such as a new phone number.
    func sendCode(
        to receiver: String, for kind: Mailbox.Kind, holder: String, userID: String, target: String? = nil
    ) throws(APIError) {
        let now = now
        let lifetime = options.verificationLifetime.milliseconds
        let code = try change { state in
            state.codes.issue(.init(kind, holder), userID: userID, target: target, lifetime: lifetime, at: now)
        }
        mailbox.send(code, to: receiver, for: kind, at: now)
        journal.account("code_sent", user: receiver, kind: kind.rawValue)
    }

    /// The errors of a call for a code that is wrong, expired, missing or was tried too often.
    struct CodeRefusals {
        var wrong = APIError.wrongCode
        var expired = APIError.wrongCode
        var missing = APIError.wrongCode
        var exhausted = APIError.attemptsExceeded
    }

    /// Checks a code. If it is right, runs `effect` in the same change of the state.
    func redeem(
        _ code: String, for kind: Mailbox.Kind, holder: String, refusals: CodeRefusals = CodeRefusals(),
        then effect: (inout CloudState, VerificationCodes.Pending) -> APIError?
    ) throws(APIError) {
        let now = now
        let refusal = try change { state -> APIError? in
            switch state.codes.redeem(.init(kind, holder), code: code, at: now) {
            case .right(let pending): effect(&state, pending)
            case .wrong: refusals.wrong
            case .expired: refusals.expired
            case .missing: refusals.missing
            case .exhausted: refusals.exhausted
            }
        }
        if let refusal { throw refusal }
    }

    /// Returns the user name of a body, if it is valid.
    func validName(_ body: Fields) throws(APIError) -> String {
        let name = try body.string("user_name")
        switch AccountRules.problem(ofName: name) {
        case .missing: throw .userNameMissing
        case .email: throw .badEmail
        case .phone: throw .badPhone
        case nil: return name ?? ""
        }
    }

    /// Checks `?locale=` of calls that send mail.
    func checkLocale(_ call: Call) throws(APIError) {
        guard AccountRules.accepts(locale: call.request.query("locale") ?? AccountRules.noLocale) else {
            throw .badLocale
        }
    }
}

/// The file for codes that a cloud would send by e-mail or SMS: one JSON object a line, readable only by its owner.
///
/// No other file has codes in plain text.
public final class Mailbox: Sendable {
    /// The purpose of a code.
    enum Kind: String, Sendable {
        case signUp = "signup"
        case signIn = "login"
        case secondStep = "mfa"
        case passwordReset = "password_reset"
        case deletion = "delete"
        case phone = "phone"
        case tags = "tags"
        case guestConversion = "guest_conversion"
    }

    /// Discards everything.
    public static let none = Mailbox(descriptor: -1)

    private let descriptor: Int32
    private let turn = Mutex(())

    /// Appends to the file at `path`. Without a path it discards everything.
    public convenience init(path: String?) throws(SimulatorError) {
        guard let path else {
            self.init(descriptor: -1)
            return
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        // The file may have existed with other permissions.
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0 else {
            let reason = systemErrorText(errno)
            if descriptor >= 0 { close(descriptor) }
            throw SimulatorError(.storage, "the mailbox \(path) cannot be written: \(reason); choose another --mailbox")
        }
        self.init(descriptor: descriptor)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// - Parameter time: in milliseconds since 1970.
    fileprivate func send(_ code: String, to receiver: String, for kind: Kind, at time: Int64) {
        guard descriptor >= 0 else { return }
        let message: JSONValue = [
            "time": .integer(time), "to": .string(receiver), "kind": .string(kind.rawValue), "code": .string(code),
        ]
        let line = message.serialized() + [0x0A]
        // One write for each line, so that a reader never sees half of a line.
        turn.withLock { _ in _ = line.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) } }
    }
}
