// SPDX-License-Identifier: Apache-2.0

/// Why a bus, or a program on it, could not serve a request.
public struct DBusError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `accessDenied`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unavailable, accessDenied, disconnected, timeout, remote, malformed, tooLarge, cancelled
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// There is no bus at that address, or no library to reach it.
        public static let unavailable = Code(value: .unavailable)
        /// The bus refuses this user.
        public static let accessDenied = Code(value: .accessDenied)
        /// The connection to the bus was lost.
        public static let disconnected = Code(value: .disconnected)
        /// No answer within the deadline.
        public static let timeout = Code(value: .timeout)
        /// The other side answered with an error, which ``DBusError/name`` identifies.
        public static let remote = Code(value: .remote)
        /// A message that breaks the protocol's rules, in either direction.
        public static let malformed = Code(value: .malformed)
        /// A message beyond the limits of ``DBusLimits``.
        public static let tooLarge = Code(value: .tooLarge)
        /// The calling task was cancelled, or this side closed the connection.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure; for `remote`, ``name`` identifies the other side's error.
    public var code: Code
    /// The name of a remote error, such as `org.bluez.Error.Failed`.
    public var name: String?
    /// A description of the failure, or the text of a remote error.
    public var message: String

    /// The address of a bus that cannot be reached (`unavailable`).
    package var address: String?

    public init(_ code: Code, name: String? = nil, message: String) {
        self.code = code
        self.name = name
        self.message = message
    }

    public var description: String { name.map { "\($0): \(message)" } ?? "\(code): \(message)" }
}

/// Limits for messages from a bus.
public enum DBusLimits {
    /// The maximum nesting of values. No honest service needs more (the protocol itself allows 64).
    public static let depth = 24
    /// The maximum number of values in one message. A radio with some thousand devices in its tree needs fewer.
    public static let values = 1_000_000
    /// The maximum number of messages that are handled in a row before deadlines and this side's own calls are checked.
    public static let turn = 64
    /// The maximum number of incoming calls that are kept until they are answered.
    public static let unanswered = 4096
    /// The maximum number of calls of one connection that have no answer yet. More calls wait. dbus-daemon's own limit on the system's bus
    /// is 128 (`max_replies_per_connection`), and it counts calls that this side has given up as well.
    public static let pending = 100
}

/// Names of errors that the bus and its services share (D-Bus specification; the reference implementation's dbus-protocol.h).
public enum DBusErrorName {
    /// The bus's policy, or the service itself, does not allow this caller to do that.
    public static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    /// The method does not accept arguments of these types or values.
    public static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
    /// The bus refuses a call because its caller has used up a limit, such as that of calls without an answer.
    public static let limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// No connection owns that name now.
    public static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// A service gave up waiting for another answer.
    public static let noReply = "org.freedesktop.DBus.Error.NoReply"
    /// No connection owns that name, and the bus has no service to start for it.
    public static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// The bus lost the connection that should have answered the call.
    public static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
    /// The prefix of errors for a service that the bus could not start (`Spawn.ChildExited`, `Spawn.Failed`, …).
    public static let spawn = "org.freedesktop.DBus.Error.Spawn."
    /// The object has no such method.
    public static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    /// The service has no object at that path.
    public static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"

    /// Whether a call failed because the service did not run, or ended before it answered. This happens while a crashed service is
    /// restarted.
    public static func isAbsence(_ name: String?) -> Bool {
        guard let name else { return false }
        return [serviceUnknown, nameHasNoOwner, noReply, disconnected].contains(name) || name.hasPrefix(spawn)
    }
}
