// SPDX-License-Identifier: Apache-2.0

/// Why this machine cannot look for services on its network.
public struct ServiceDiscoveryError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `noAvahi`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case noBus, noAvahi, notAllowed, failed, cancelled }
        private let value: Value
        public var description: String { value.rawValue }

        /// There is no D-Bus, over which Avahi is asked.
        public static let noBus = Code(value: .noBus)
        /// Avahi is not installed, does not run, or ended meanwhile.
        public static let noAvahi = Code(value: .noAvahi)
        /// D-Bus does not let this user ask Avahi.
        public static let notAllowed = Code(value: .notAllowed)
        /// Avahi refused, or did not answer.
        public static let failed = Code(value: .failed)
        /// The calling task was cancelled.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// What happened and what to try.
    public var message: String

    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }

    static let absent = ServiceDiscoveryError(
        .noAvahi,
        message:
            "Nothing here looks for services on the network: Avahi does not run. Install it (apt install avahi-daemon), or start it "
            + "(systemctl start avahi-daemon).")

    init(_ error: DBusError) {
        if DBusErrorName.isAbsence(error.name) || error.code == .disconnected {
            self = .absent
            return
        }
        switch error.code {
        case .unavailable:
            self.init(
                .noBus,
                message:
                    "Services on the network are looked for by Avahi over D-Bus, which cannot be reached: start it (systemctl start dbus), and "
                    + "install avahi-daemon where it is missing. (\(error.message))")
        case .accessDenied:
            self.init(.notAllowed, message: "D-Bus does not let this user ask Avahi: \(error.message)")
        case .cancelled: self.init(.cancelled, message: "Cancelled.")
        case .remote where error.name == DBusErrorName.accessDenied:
            self.init(.notAllowed, message: "D-Bus does not let this user ask Avahi: \(error.message)")
        default: self.init(.failed, message: "Avahi does not look for services: \(error.message)")
        }
    }
}
