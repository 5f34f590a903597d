import DBus
import ProtocommWire

/// A connection to one board: its endpoints, and the exchange of one value for another.
struct BoardLink: Sendable {
    let board: DiscoveredBoard
    /// Keeps the other transports of this process away.
    let hold: BoardHold
    let endpoints: EndpointMap
    /// Bytes of one packet, as the two ends agreed; nil where BlueZ does not say (before 5.62).
    let mtu: Int?

    /// Whether this is still the connection that it was.
    func isUp(_ central: BluetoothCentral) -> Bool {
        hold.isCurrent && central.watch.read { Self.isConnected(board.path, $0) }
    }

    static func isConnected(_ device: String, _ tree: ObjectTree) -> Bool {
        tree[device, BlueZName.device]?["Connected"]?.boolean == true
    }

    /// Writes the request with response, and reads what the board left in its place. BlueZ splits what is longer than a packet.
    ///
    /// - Throws: `refused`, `tooLong`, `linkLost`, `timeout`, `pairingFailed`, `cancelled`.
    func exchange(
        _ request: [UInt8], at characteristic: String, through central: BluetoothCentral, within limit: Duration
    ) async throws(BluetoothError) -> [UInt8] {
        let end = ContinuousClock.now + limit
        do throws(GATTOperation.Failure) {
            try await GATTOperation.write(request, to: characteristic, of: board.path).run(through: central, until: end)
            let answer = try await GATTOperation.read(characteristic, BlueZName.characteristic, of: board.path)
                .run(through: central, until: end)
            guard let value = answer.first?.byteArray else {
                throw .failed(.refused, DBusError(.malformed, message: "its answer is not a value"))
            }
            return value
        } catch {
            switch error {
            case .failed(let failure, let cause): throw failure.error(cause)
            case .notPaired(let error): throw error
            }
        }
    }
}

/// What BlueZ's answer to a read or write means (BlueZ 5.66, `create_gatt_dbus_error` in src/gatt-client.c).
enum GATTFailure: Equatable {
    static let linkGone = "org.bluez.Error.NotConnected"

    case busy
    case wantsPairing
    case tooLong
    case refused
    case linkLost
    case timeout
    case cancelled
    /// A firmware's refusal, or what BlueZ says of an operation that the end of the link cut off: ATT error 0x0e ("unlikely") from
    /// 5.66, other words from other versions.
    case ambiguous

    init(_ error: DBusError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .timeout: self = .timeout
        case .disconnected: self = .linkLost
        case .remote: self.init(name: error.name ?? "", text: error.message)
        default: self = .ambiguous
        }
    }

    private init(name: String, text: String) {
        switch name {
        case "org.bluez.Error.InProgress": self = .busy
        case "org.bluez.Error.InvalidArguments" where text == "Invalid Length": self = .tooLong
        case "org.bluez.Error.NotPermitted" where text == "Not paired": self = .wantsPairing
        case "org.bluez.Error.NotPermitted", "org.bluez.Error.NotSupported", "org.bluez.Error.NotAuthorized",
            "org.bluez.Error.InvalidArguments":
            self = .refused
        case Self.linkGone, "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.ServiceUnknown":
            self = .linkLost
        // BlueZ gave up waiting for its own answer.
        case "org.freedesktop.DBus.Error.NoReply": self = .timeout
        case "org.bluez.Error.Failed" where text == "Not connected": self = .linkLost
        case "org.bluez.Error.Failed" where text.hasPrefix("Operation failed with ATT error: 0x0e"): self = .ambiguous
        case "org.bluez.Error.Failed" where text.hasPrefix("Operation failed with ATT error"): self = .refused
        default: self = .ambiguous
        }
    }

    func error(_ cause: DBusError) -> BluetoothError {
        switch self {
        case .cancelled: .cancelled
        case .timeout: BluetoothError(.timeout, message: "The board did not answer in time.")
        case .tooLong: BluetoothError(.tooLong, message: "The board does not take a value of this length.")
        case .refused, .ambiguous: BluetoothError(.refused, message: "The board refused: \(cause.message).")
        case .wantsPairing:
            BluetoothError(.pairingFailed, message: "The board wants an encrypted link, even after pairing.")
        case .linkLost, .busy:
            BluetoothError(.linkLost, message: "The Bluetooth connection to the board broke.")
        }
    }
}
