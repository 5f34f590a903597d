// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// Why Bluetooth could not do what was asked, and what to do about it.
public struct BluetoothError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it; ``name`` is its spelling in scripts and JSON.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case noBus = "no_bus"
            case noBlueZ = "no_bluez"
            case noAdapter = "no_adapter"
            case poweredOff = "powered_off"
            case blocked
            case accessDenied = "access_denied"
            case radioLost = "radio_lost"
            case notFound = "not_found"
            case scanFailed = "scan_failed"
            case connectionFailed = "connection_failed"
            case linkLost = "link_lost"
            case refused
            case notAllowed = "not_allowed"
            case tooLong = "too_long"
            case pairingFailed = "pairing_failed"
            case timeout, cancelled
        }
        private let value: Value
        /// In snake case, as scripts read it: `powered_off`.
        public var name: String { value.rawValue }
        public var description: String { name }

        /// No system bus, or none that answers.
        public static let noBus = Code(value: .noBus)
        /// The bus is there, and BlueZ is not on it.
        public static let noBlueZ = Code(value: .noBlueZ)
        /// This machine has no Bluetooth adapter, or not that one.
        public static let noAdapter = Code(value: .noAdapter)
        /// The adapter is there and switched off: `bluetoothctl power on` switches it on.
        public static let poweredOff = Code(value: .poweredOff)
        /// Switched off by rfkill: a key, a switch, or airplane mode.
        public static let blocked = Code(value: .blocked)
        /// This user may not use Bluetooth.
        public static let accessDenied = Code(value: .accessDenied)
        /// This machine's end broke meanwhile: the connection to D-Bus, or the adapter has another name. The next try begins anew.
        public static let radioLost = Code(value: .radioLost)
        /// No such board was heard in time.
        public static let notFound = Code(value: .notFound)
        /// BlueZ did not begin to scan as long as there was time, so no board could be heard.
        public static let scanFailed = Code(value: .scanFailed)
        /// The board was heard, and no connection came about.
        public static let connectionFailed = Code(value: .connectionFailed)
        /// The connection broke.
        public static let linkLost = Code(value: .linkLost)
        /// The board answered with an ATT error: a handler of its firmware failed.
        public static let refused = Code(value: .refused)
        /// The board does not let that value be read or written; nothing of it counted.
        public static let notAllowed = Code(value: .notAllowed)
        /// The board does not take a value of that length; nothing of it counted.
        public static let tooLong = Code(value: .tooLong)
        /// The board wants an encrypted link, and pairing failed.
        public static let pairingFailed = Code(value: .pairingFailed)
        /// The board or BlueZ did not answer within the deadline.
        public static let timeout = Code(value: .timeout)
        /// The calling task was cancelled, or the ``BluetoothCentral`` was closed.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// One or two sentences: what happened, and what to try.
    public var message: String

    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }

    /// Whether a person must change something on this machine before anything can work: trying again is of no use.
    public var isOfThisMachine: Bool {
        [.noBus, .noBlueZ, .noAdapter, .poweredOff, .blocked, .accessDenied].contains(code)
    }

    static let cancelled = BluetoothError(.cancelled, message: "Cancelled.")

    static func accessDenied(_ detail: String) -> BluetoothError {
        BluetoothError(
            .accessDenied,
            message: "This user may not use Bluetooth (\(detail)): add it to the group bluetooth "
                + "(sudo usermod -aG bluetooth $USER) and sign in again.")
    }

    static func noBlueZ(_ detail: String) -> BluetoothError {
        BluetoothError(
            .noBlueZ,
            message: "BlueZ does not run (\(detail)): install it (apt install bluez) and start it "
                + "(sudo systemctl start bluetooth).")
    }
}

/// What errors over D-Bus mean for Bluetooth.
extension BluetoothError {
    /// Where BlueZ was to be reached.
    init(opening error: DBusError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .accessDenied: self = .accessDenied(error.message)
        case .remote where error.name == DBusErrorName.accessDenied: self = .accessDenied(error.message)
        case .remote: self = .noBlueZ(error.message)
        case .timeout where !error.message.contains(" at "): self = .noBlueZ("it does not answer")
        default:
            self.init(
                .noBus,
                message:
                    "\(error.message) Bluetooth needs the system's D-Bus: install it (apt install dbus) and start it "
                    + "(sudo systemctl start dbus).")
        }
    }

    /// Where something was to be done with an adapter, or through it.
    init(adapter: String, _ error: DBusError) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (.disconnected, _): self = .busLost
        case (_, BlueZErrorName.notReady): self = AdapterChoice.off(adapter)
        case (_, BlueZErrorName.blocked): self = AdapterChoice.blocked
        case (_, DBusErrorName.accessDenied), (_, BlueZErrorName.notAuthorized), (_, BlueZErrorName.notPermitted):
            self = .accessDenied(error.message)
        case (_, DBusErrorName.unknownObject): self = AdapterChoice.gone(adapter)
        case (_, let name) where DBusErrorName.isAbsence(name): self = .noBlueZ(error.message)
        default:
            self.init(
                .connectionFailed,
                message:
                    "BlueZ could not use the adapter \(AdapterChoice.name(adapter)) (\(error.message)): restart it "
                    + "(sudo systemctl restart bluetooth), and run this again.")
        }
    }

    /// Where a scan was to begin.
    init(scanning adapter: String, _ error: DBusError) {
        self.init(adapter: adapter, error)
        guard code == .connectionFailed else { return }
        self.init(
            .scanFailed,
            message:
                "BlueZ does not begin to scan with the adapter \(AdapterChoice.name(adapter)) (\(error.message)), so no board "
                + "can be heard: end other scans (bluetoothctl scan off), or restart it (sudo systemctl restart bluetooth), and "
                + "run this again.")
    }

    /// The bus was there, and is not any longer, or threw this connection out.
    static let busLost = BluetoothError(
        .radioLost,
        message: "The connection to D-Bus broke, and with it what went through it: run this again, and where that "
            + "fails see whether D-Bus runs (systemctl status dbus).")

    /// BlueZ came back, and what it has could not be read.
    static let unclear = BluetoothError(
        .radioLost, message: "BlueZ was restarted, and did not say what it has: run this again.")

    static func adapterMoved(_ path: String) -> BluetoothError {
        BluetoothError(
            .radioLost,
            message: "The Bluetooth adapter \(AdapterChoice.name(path)) went away and has another name now: run this "
                + "again, it is found by itself.")
    }
}
