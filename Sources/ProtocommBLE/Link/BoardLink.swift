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

    private var device: String { board.path }

    /// Whether this is still the connection that it was.
    func isUp(_ central: BluetoothCentral) -> Bool {
        hold.isCurrent && central.watch.read { Self.isConnected(device, $0) }
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
        _ = try await operate(
            characteristic, "WriteValue", [.bytes(request), .properties([("type", .string("request"))])], central, end)
        let answer = try await operate(characteristic, "ReadValue", [.properties([])], central, end)
        guard let value = answer.first?.byteArray else {
            throw BluetoothError(.refused, message: "The board's answer is not a value.")
        }
        return value
    }

    /// One operation, which ends with the link at the latest, whatever BlueZ does about it.
    private func operate(
        _ path: String, _ member: String, _ arguments: [DBusValue], _ central: BluetoothCentral,
        _ end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> [DBusValue] {
        var hasPaired = false
        var wasBusy = false
        var pause = Duration.milliseconds(2)
        while true {
            let left = max(end - ContinuousClock.now, .milliseconds(1))
            switch await race(path, member, arguments, central, left) {
            case .success(let answer): return answer
            case .failure(let error):
                switch GATTFailure(error) {
                case .busy where ContinuousClock.now < end:
                    // An operation that was given up is still under way at the board.
                    wasBusy = true
                    do { try await central.clock.sleep(for: pause) } catch { throw .cancelled }
                    pause = min(pause * 2, .milliseconds(50))
                case .wantsPairing where !hasPaired:
                    hasPaired = true
                    try await central.pair(device)
                // A link that stayed busy to the end is stuck, whichever of the two is said last: another one helps.
                case .timeout where wasBusy: throw GATTFailure.busy.error(isUp: false, error)
                case .ambiguous: throw GATTFailure.ambiguous.error(isUp: await !isCutOff(central), error)
                case let failure: throw failure.error(isUp: false, error)
                }
            }
        }
    }

    /// Whether the link is gone, or goes in a moment: BlueZ says what it cut off before it says that the link has ended.
    private func isCutOff(_ central: BluetoothCentral) async -> Bool {
        let device = device
        let gone = try? await central.watch.wait(for: device, within: .seconds(1)) { tree, _ -> Bool? in
            Self.isConnected(device, tree) ? nil : true
        }
        return gone != nil
    }

    private func race(
        _ path: String, _ member: String, _ arguments: [DBusValue], _ central: BluetoothCentral, _ limit: Duration
    ) async -> Result<[DBusValue], DBusError> {
        let device = device
        let gone = DBusError(.remote, name: GATTFailure.linkGone, message: "Not connected")
        return await withTaskGroup(of: Result<[DBusValue], DBusError>?.self) { group in
            group.addTask {
                do throws(DBusError) {
                    return .success(
                        try await central.call(path, BlueZName.characteristic, member, arguments, within: limit))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                let isDown = try? await central.watch.wait(for: device, within: limit + .seconds(1)) {
                    tree, _ -> Bool? in
                    Self.isConnected(device, tree) ? nil : true
                }
                return isDown == nil ? nil : .failure(gone)
            }
            defer { group.cancelAll() }
            for await result in group { if let result { return result } }
            return .failure(DBusError(.cancelled, message: "Cancelled."))
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

    func error(isUp: Bool, _ cause: DBusError) -> BluetoothError {
        switch self {
        case .cancelled: .cancelled
        case .timeout: BluetoothError(.timeout, message: "The board did not answer in time.")
        case .tooLong: BluetoothError(.tooLong, message: "The board does not take a value of this length.")
        case .refused: BluetoothError(.refused, message: "The board refused: \(cause.message).")
        case .wantsPairing:
            BluetoothError(.pairingFailed, message: "The board wants an encrypted link, even after pairing.")
        // What BlueZ says of an operation that the end of the link cut off differs from version to version.
        case .linkLost, .busy, .ambiguous:
            isUp
                ? BluetoothError(.refused, message: "The board refused: \(cause.message).")
                : BluetoothError(.linkLost, message: "The Bluetooth connection to the board broke.")
        }
    }
}
