// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import Synchronization

/// Where codes go that a cloud would send by e-mail or SMS: one JSON object a line, in a file that only its owner reads.
///
/// No other file has codes in clear.
public final class Mailbox: Sendable {
    /// Why the user gets a code.
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

    /// Drops everything.
    public static let none = Mailbox(descriptor: -1)

    private let descriptor: Int32
    private let turn = Mutex(())

    /// Appends to the file at `path`; without a path it drops everything.
    public convenience init(path: String?) throws(SimulatorError) {
        guard let path else {
            self.init(descriptor: -1)
            return
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        // The file may have been there, with other rights.
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0 else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            throw SimulatorError(.storage, "cannot write the mailbox \(path): \(reason); choose another --mailbox")
        }
        self.init(descriptor: descriptor)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// - Parameter time: in milliseconds since 1970.
    func send(_ code: String, to receiver: String, for kind: Kind, at time: Int64) {
        guard descriptor >= 0 else { return }
        let message: JSONValue = [
            "time": .integer(time), "to": .string(receiver), "kind": .string(kind.rawValue), "code": .string(code),
        ]
        let line = message.serialized() + [0x0A]
        // One write for one line, so that a reader never sees half of one.
        turn.withLock { _ in _ = line.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) } }
    }
}
