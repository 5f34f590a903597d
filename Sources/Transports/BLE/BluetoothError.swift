// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainDBus

/// A failed Bluetooth operation: the kind of failure, what happened, and what to try.
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
            case allLinksInUse = "all_links_in_use"
            case linkLost = "link_lost"
            case refused
            case notAllowed = "not_allowed"
            case tooLong = "too_long"
            case pairingFailed = "pairing_failed"
            case timeout, cancelled
        }
        private let value: Value
        /// The code in snake case, such as `powered_off`, for scripts.
        public var name: String { value.rawValue }
        public var description: String { name }

        /// There is no system bus, or it does not answer.
        public static let noBus = Code(value: .noBus)
        /// The bus is there, but BlueZ is not on it.
        public static let noBlueZ = Code(value: .noBlueZ)
        /// This machine has no Bluetooth adapter, or not the requested one.
        public static let noAdapter = Code(value: .noAdapter)
        /// The adapter is switched off: `bluetoothctl power on` switches it on.
        public static let poweredOff = Code(value: .poweredOff)
        /// The adapter is blocked by rfkill: a key, a switch, or airplane mode.
        public static let blocked = Code(value: .blocked)
        /// This user may not use Bluetooth.
        public static let accessDenied = Code(value: .accessDenied)
        /// This machine's end failed: the connection to D-Bus broke, or the adapter has another name. The next try starts again.
        public static let radioLost = Code(value: .radioLost)
        /// No such board was found in time.
        public static let notFound = Code(value: .notFound)
        /// BlueZ did not start to scan while there was time, so no board could be found.
        public static let scanFailed = Code(value: .scanFailed)
        /// The board was found, but no connection was made.
        public static let connectionFailed = Code(value: .connectionFailed)
        /// The adapters have no connection left for another board, and none became free in time.
        public static let allLinksInUse = Code(value: .allLinksInUse)
        /// The connection broke.
        public static let linkLost = Code(value: .linkLost)
        /// The board answered with an ATT error: a handler of its firmware failed.
        public static let refused = Code(value: .refused)
        /// The board does not allow this value to be read or written; nothing was transferred.
        public static let notAllowed = Code(value: .notAllowed)
        /// The board does not accept a value of this length; nothing was transferred.
        public static let tooLong = Code(value: .tooLong)
        /// The board requires an encrypted link, and pairing failed.
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

    /// Whether a person must change something on this machine first, so that trying again does not help.
    public var isOfThisMachine: Bool {
        [.noBus, .noBlueZ, .noAdapter, .poweredOff, .blocked, .accessDenied].contains(code)
    }

    static let cancelled = BluetoothError(.cancelled, message: "Cancelled.")

    static func accessDenied(_ detail: String) -> BluetoothError {
        BluetoothError(
            .accessDenied,
            message: "This user may not use Bluetooth (\(detail)). Add this user to the group bluetooth "
                + "(sudo usermod -aG bluetooth $USER) and sign in again.")
    }

    /// BlueZ ran when this program began to use it, or still does.
    static func stoppedBlueZ(_ what: String) -> BluetoothError {
        BluetoothError(
            .noBlueZ,
            message: "BlueZ \(what). Restart it (sudo systemctl restart bluetooth), and try again.")
    }

    static func noBlueZ(_ detail: String) -> BluetoothError {
        BluetoothError(
            .noBlueZ,
            message:
                "BlueZ, the Bluetooth service of Linux, is not running (\(detail)). Install it (apt install bluez) and start it "
                + "(sudo systemctl start bluetooth).")
    }
}

/// Conversions of D-Bus errors.
extension BluetoothError {
    private static let systemBus = "/run/dbus/system_bus_socket"

    /// Converts an error of connecting to BlueZ.
    init(opening error: DBusError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .accessDenied: self = .accessDenied(error.message)
        case .remote where error.name == DBusErrorName.accessDenied: self = .accessDenied(error.message)
        case .remote: self = .noBlueZ(error.message)
        case .timeout where !error.message.contains(" at "): self = .stoppedBlueZ("does not answer")
        // A container has no bus unless it is given its host's.
        case .unavailable where runsInContainer() && error.address?.hasPrefix("unix:path=\(Self.systemBus)") == true:
            self.init(
                .noBus,
                message:
                    "This container has no D-Bus system bus, which Bluetooth needs. Mount the host's \(Self.systemBus) into the container."
            )
        default:
            self.init(
                .noBus,
                message:
                    "Bluetooth needs the system's D-Bus, but \(error.message) Install D-Bus (apt install dbus), and start it (sudo "
                    + "systemctl start dbus).")
        }
    }

    /// Converts an error of an operation on an adapter, or through it.
    init(adapter: String, _ error: DBusError) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (.disconnected, _): self = .busLost
        case (_, BlueZErrorName.notReady): self = AdapterChoice.off(adapter)
        case (_, BlueZErrorName.blocked): self = AdapterChoice.blocked
        case (_, DBusErrorName.accessDenied), (_, BlueZErrorName.notAuthorized), (_, BlueZErrorName.notPermitted):
            self = .accessDenied(error.message)
        case (_, DBusErrorName.unknownObject): self = AdapterChoice.gone(adapter)
        case (_, let name) where DBusErrorName.isAbsence(name):
            self = .stoppedBlueZ("has stopped while it was in use (\(error.message))")
        default:
            self.init(
                .connectionFailed,
                message:
                    "BlueZ could not use the adapter \(AdapterChoice.name(adapter)) (\(error.message)). "
                    + (error.isAdapterStuck
                        ? Self.adviceForStuckAdapter
                        : "Restart BlueZ (sudo systemctl restart bluetooth), and try again."))
        }
    }

    /// Converts an error of starting a scan.
    init(scanning adapter: String, _ error: DBusError) {
        self.init(adapter: adapter, error)
        guard code == .connectionFailed else { return }
        self.init(
            .scanFailed,
            message:
                "BlueZ does not start to scan with the adapter \(AdapterChoice.name(adapter)) (\(error.message)), so no board "
                + "can be found. "
                + (error.isAdapterStuck
                    ? Self.adviceForStuckAdapter
                    : "End other scans (bluetoothctl scan off), or restart BlueZ (sudo systemctl restart bluetooth), and try again.")
        )
    }

    private static let adviceForStuckAdapter =
        "The adapter does not answer. Unplug it and plug it in again, or restart the machine if the adapter is built in. Then try again."

    /// The bus disappeared, or disconnected this program.
    static let busLost = BluetoothError(
        .radioLost,
        message:
            "The connection to D-Bus broke, so the links to boards broke too. Try again. If that fails, check whether D-Bus runs "
            + "(systemctl status dbus).")

    /// BlueZ returned, and its objects could not be read.
    static let unclear = BluetoothError(
        .radioLost, message: "BlueZ was restarted, and its objects could not be read. Try again.")

    static func adapterMoved(_ path: String) -> BluetoothError {
        BluetoothError(
            .radioLost,
            message:
                "The Bluetooth adapter \(AdapterChoice.name(path)) was removed, and has another name now. Try again: the adapter "
                + "is found automatically."
        )
    }
}

extension DBusError {
    /// Whether the adapter no longer answers the kernel. Other scans do not cause this.
    fileprivate var isAdapterStuck: Bool { message == "Input/output error" }
}
