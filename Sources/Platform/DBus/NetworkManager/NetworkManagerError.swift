// SPDX-License-Identifier: Apache-2.0

/// Why NetworkManager could not serve a request.
public struct NetworkManagerError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `notRunning`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case noBus, notRunning, tooOld, noWiFi, switchedOff, notFound, passwordNeeded, wrongPassword, noAddress
            case accessDenied, failed, timeout, cancelled
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// There is no bus, or the connection to it was lost.
        public static let noBus = Code(value: .noBus)
        /// NetworkManager is not on the bus.
        public static let notRunning = Code(value: .notRunning)
        /// NetworkManager is older than 1.16, which cannot join a network for one program only.
        public static let tooOld = Code(value: .tooOld)
        /// This machine has no Wi-Fi adapter that NetworkManager manages.
        public static let noWiFi = Code(value: .noWiFi)
        /// Wi-Fi is switched off, by NetworkManager or by rfkill.
        public static let switchedOff = Code(value: .switchedOff)
        /// No network of that name is in range.
        public static let notFound = Code(value: .notFound)
        /// The network has a password, but none was given.
        public static let passwordNeeded = Code(value: .passwordNeeded)
        /// The network rejected the password.
        public static let wrongPassword = Code(value: .wrongPassword)
        /// The network was joined, but did not give this machine an address.
        public static let noAddress = Code(value: .noAddress)
        /// This user may not change the machine's networks (polkit).
        public static let accessDenied = Code(value: .accessDenied)
        /// NetworkManager gave up; the message has its reason.
        public static let failed = Code(value: .failed)
        /// The operation did not end in time.
        public static let timeout = Code(value: .timeout)
        /// The calling task was cancelled.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure.
    public var code: Code
    /// The failure, and advice for people. Never holds a secret.
    public var message: String

    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }

    static let cancelled = NetworkManagerError(.cancelled, message: "Cancelled.")
    static let late = NetworkManagerError(.timeout, message: "NetworkManager did not finish in time.")
}

/// Maps errors over D-Bus to errors of networks.
extension NetworkManagerError {
    init(_ error: DBusError) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (.timeout, _):
            self.init(.timeout, message: "NetworkManager does not answer.")
        case (.accessDenied, _), (_, DBusErrorName.accessDenied), (_, Self.permissionDenied):
            self.init(
                .accessDenied,
                message: "NetworkManager does not let this user change networks (\(error.message)).")
        case (.remote, let name) where DBusErrorName.isAbsence(name):
            self.init(.notRunning, message: "NetworkManager is not running on this machine.")
        case (.remote, DBusErrorName.unknownMethod):
            self.init(.tooOld, message: "This machine's NetworkManager is older than 1.16.")
        case (.remote, _): self.init(.failed, message: "NetworkManager refuses: \(error.message)")
        default: self.init(.noBus, message: error.message)
        }
    }

    /// NMManagerError (NetworkManager, src/libnm-core-public/nm-errors.h).
    static let permissionDenied = "org.freedesktop.NetworkManager.PermissionDenied"

    /// - Parameter reason: the NMDeviceStateReason with which the device entered its state `FAILED`; nil if none was received.
    init(failure reason: Int?, of network: String, isSecured: Bool) {
        switch reason {
        case 53:
            self.init(.notFound, message: "The Wi-Fi network \(network) is out of reach.")
        case let reason? where isSecured && (7...11).contains(reason):
            self.init(.wrongPassword, message: "The Wi-Fi network \(network) did not accept the password.")
        case 5, 15, 16, 17:
            self.init(.noAddress, message: "The Wi-Fi network \(network) gave this machine no address.")
        default:
            let why = reason.map { " (device state reason \($0))" } ?? ""
            self.init(.failed, message: "NetworkManager could not join the Wi-Fi network \(network)\(why).")
        }
    }
}
