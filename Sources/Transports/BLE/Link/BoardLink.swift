// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainDBus

/// A connection to one board: its endpoints, and the exchange of requests and answers.
struct BoardLink: Sendable {
    /// The adapter of the connection.
    let adapter: OpenAdapter
    let board: DiscoveredBoard
    /// Keeps other transports of this process from using the board.
    let hold: BoardHold
    let endpoints: EndpointMap
    /// The bytes of one packet, as the two ends agreed; nil if BlueZ does not report it (before 5.62).
    let mtu: Int?
    /// The reserved link of an adapter; nil if the caller chose the adapter.
    var slot: AdapterSlot?

    /// The same link with its reservation.
    func holding(_ slot: AdapterSlot) -> BoardLink {
        var link = self
        link.slot = slot
        return link
    }

    /// Whether this connection still exists.
    var isUp: Bool {
        hold.isCurrent && adapter.watch.read { Self.isConnected(board.path, $0) }
    }

    static func isConnected(_ device: String, _ tree: ObjectTree) -> Bool {
        tree[device, BlueZName.device]?["Connected"]?.boolean == true
    }

    /// Writes the request with response, and reads the board's answer from the same attribute. BlueZ splits values that are longer than a
    /// packet.
    ///
    /// - Throws: `refused`, `tooLong`, `linkLost`, `timeout`, `pairingFailed`, `radioLost`, `cancelled`.
    func exchange(
        _ request: [UInt8], at characteristic: String, within limit: Duration
    ) async throws(BluetoothError) -> [UInt8] {
        let end = ContinuousClock.now + limit
        do throws(GATTOperation.Failure) {
            try await GATTOperation.write(request, to: characteristic, of: board.path).run(through: adapter, until: end)
            let answer = try await GATTOperation.read(characteristic, BlueZName.characteristic, of: board.path)
                .run(through: adapter, until: end)
            guard let value = answer.first?.byteArray else {
                throw .failed(.refused, DBusError(.malformed, message: "its answer contains no data"))
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

/// The characteristics of a board's endpoints.
///
/// The names are in the descriptors 0x2901 of the characteristics (ESP-IDF, protocomm_nimble.c): ids are assigned in order of creation and
/// have no meaning. Only if no descriptor can be read, the usual meaning of the id in the UUID is assumed.
struct EndpointMap: Sendable, Equatable {
    struct Characteristic: Sendable, Equatable {
        var path: String
        /// In lower case.
        var uuid: String
        /// The service's UUID, in lower case.
        var service: String
        /// The path of the descriptor with the endpoint's name.
        var description: String?
    }

    /// A board has fewer than ten; a hundred is a mistake or an attack.
    static let maximumCharacteristics = 64

    private(set) var paths: [Endpoint: String] = [:]

    subscript(endpoint: Endpoint) -> String? { paths[endpoint] }

    /// Returns the characteristics of a device, without those of standard services.
    static func characteristics(of device: String, in tree: ObjectTree) -> [Characteristic] {
        var found: [Characteristic] = []
        for service in tree.paths(with: BlueZName.gattService, below: device) {
            guard let serviceUUID = tree[service, BlueZName.gattService]?["UUID"]?.text, !isStandard(serviceUUID) else {
                continue
            }
            for path in tree.paths(with: BlueZName.characteristic, below: service) {
                guard found.count < maximumCharacteristics else { return found }
                guard let uuid = tree[path, BlueZName.characteristic]?["UUID"]?.text else { continue }
                let description = tree.paths(with: BlueZName.descriptor, below: path).first {
                    tree[$0, BlueZName.descriptor]?["UUID"]?.text?.asciiLowercased == userDescription
                }
                found.append(
                    Characteristic(
                        path: path, uuid: uuid.asciiLowercased, service: serviceUUID.asciiLowercased,
                        description: description))
            }
        }
        return found
    }

    /// Adds a characteristic with the name in its descriptor; nil if it has none, or it cannot be read.
    mutating func add(_ characteristic: Characteristic, name: [UInt8]?) {
        if let name, (1...64).contains(name.count), name.allSatisfy({ (0x21...0x7E).contains($0) }) {
            paths[Endpoint(name: name)] = characteristic.path
        } else if name == nil, let endpoint = Self.usualEndpoint(characteristic), paths[endpoint] == nil {
            paths[endpoint] = characteristic.path
        }
    }

    /// Whether the endpoints are sufficient for provisioning.
    var isComplete: Bool { paths[.session] != nil && paths[.version] != nil && paths[.config] != nil }

    static let userDescription = "00002901-0000-1000-8000-00805f9b34fb"

    /// Whether the UUID belongs to the Bluetooth SIG, such as 0x1800 and 0x1801.
    private static func isStandard(_ uuid: String) -> Bool {
        uuid.asciiLowercased.hasSuffix("-0000-1000-8000-00805f9b34fb") && uuid.hasPrefix("0000")
    }

    /// Returns the usual endpoint. A characteristic's UUID is the service's with a 16-bit id in it (characters 5 to 8).
    private static func usualEndpoint(_ characteristic: Characteristic) -> Endpoint? {
        let (uuid, service) = (Array(characteristic.uuid.utf8), Array(characteristic.service.utf8))
        guard uuid.count == 36, service.count == 36, uuid[..<4] == service[..<4], uuid[8...] == service[8...] else {
            return nil
        }
        return switch String(decoding: uuid[4..<8], as: UTF8.self) {
        case "ff4f": .control
        case "ff50": .scan
        case "ff51": .session
        case "ff52": .config
        case "ff53": .version
        // The first of the application's own endpoints, which is this one in RainMaker's firmware without challenge-response.
        case "ff54": .userMapping
        default: nil
        }
    }
}

/// A read or a write of one attribute of a board. It is repeated while the board is busy with another, and once after pairing if the board
/// requires that.
struct GATTOperation: Sendable {
    /// The board whose link it needs.
    var device: String
    /// The attribute.
    var path: String
    var interface: String
    var member: String
    var arguments: [DBusValue]
    /// Whether a refusal may mean that the link is about to end. False for reading the names of endpoints: a name that the board does not
    /// send is guessed, and each would cost the wait.
    var doubtsRefusals = true

    static func read(_ path: String, _ interface: String, of device: String) -> GATTOperation {
        GATTOperation(
            device: device, path: path, interface: interface, member: "ReadValue", arguments: [.properties([])])
    }

    static func write(_ value: [UInt8], to path: String, of device: String) -> GATTOperation {
        GATTOperation(
            device: device, path: path, interface: BlueZName.characteristic, member: "WriteValue",
            arguments: [.bytes(value), .properties([("type", .string("request"))])])
    }

    enum Failure: Error {
        /// Never `ambiguous`: by then the state of the link is known.
        case failed(GATTFailure, DBusError)
        /// Pairing failed, or was cancelled.
        case notPaired(BluetoothError)
    }

    /// Runs the operation. It ends with the link at the latest, whatever BlueZ does.
    @discardableResult
    func run(
        through adapter: OpenAdapter, until end: ContinuousClock.Instant
    ) async throws(Failure) -> [DBusValue] {
        var hasPaired = false
        var wasBusy = false
        var pause = Duration.milliseconds(2)
        while true {
            let left = max(end - ContinuousClock.now, .milliseconds(1))
            switch await race(adapter, left) {
            case .success(let answer): return answer
            case .failure(let error):
                switch GATTFailure(error) {
                case .busy where ContinuousClock.now < end:
                    // The board is still handling an operation that was cancelled.
                    wasBusy = true
                    do { try await Task.sleep(for: pause) } catch { throw .failed(.cancelled, .cancelled) }
                    pause = min(pause * 2, .milliseconds(50))
                case .wantsPairing where !hasPaired:
                    hasPaired = true
                    do { try await adapter.pair(device, within: left) } catch {
                        // BlueZ had keys that the board has lost: the link ends when it is to be encrypted.
                        if adapter.watch.read({ $0.isBonded(device) }), await isCutOff(adapter) {
                            throw .failed(.linkLost, .notConnected)
                        }
                        throw .notPaired(error)
                    }
                // A link that stayed busy until the end is stuck, whichever of the two errors is last; another link helps.
                case .timeout where wasBusy: throw .failed(.busy, error)
                case .ambiguous: throw .failed(await isCutOff(adapter) ? .linkLost : .unclear, error)
                // When a board disconnects, its attributes and the right to use them can disappear a moment before the link.
                case .notAllowed where doubtsRefusals:
                    throw .failed(await isCutOff(adapter) ? .linkLost : .notAllowed, error)
                case .timeout where error.code == .remote:
                    throw .failed(await isCutOff(adapter) ? .linkLost : .timeout, error)
                case let failure: throw .failed(failure, error)
                }
            }
        }
    }

    /// Whether the link or the attribute is gone, or will be in a moment: BlueZ reports interrupted operations before it reports the end of
    /// the link. A board that removes its services and stays connected counts as gone.
    private func isCutOff(_ adapter: OpenAdapter) async -> Bool {
        let (device, path, interface) = (device, path, interface)
        return await adapter.isTrue(within: .seconds(1), of: [device, path]) { tree in
            !BoardLink.isConnected(device, tree) || tree[path, interface] == nil
        }
    }

    private func race(_ adapter: OpenAdapter, _ limit: Duration) async -> Result<[DBusValue], DBusError> {
        let device = device
        do throws(DBusError) {
            let call = try adapter.begin(path, interface, member, arguments, within: limit)
            // Without a task of its own: each round of a handshake and each poll is such an operation.
            let hasEnded: @Sendable (BluetoothError) -> Void = { error in
                if error.code == .radioLost { call.end(with: .notConnected) }
            }
            let follower = adapter.watch.follow(device, ended: hasEnded) { tree in
                guard !BoardLink.isConnected(device, tree) else { return nil }
                return { call.end(with: .notConnected) }
            }
            defer { adapter.watch.forget(follower) }
            return .success(try await call.answer())
        } catch {
            adapter.note(error)
            return .failure(error)
        }
    }
}

extension OpenAdapter {
    /// Waits until the condition is true for these objects, or the adapter is gone; returns false if the time is over first.
    fileprivate func isTrue(
        within limit: Duration, of paths: [String], _ holds: @escaping @Sendable (ObjectTree) -> Bool
    ) async -> Bool {
        do {
            return try await watch.wait(forAny: paths.map { .object($0) }, within: limit) { tree, _ -> Bool? in
                holds(tree) ? true : nil
            }
        } catch {
            return error.code == .radioLost
        }
    }
}

extension DBusError {
    fileprivate static let cancelled = DBusError(.cancelled, message: "Cancelled.")
    fileprivate static let notConnected = DBusError(
        .remote, name: BlueZErrorName.notConnected, message: "Not connected")
}

/// The meaning of BlueZ's error for a read or write (BlueZ 5.66, `create_gatt_dbus_error` in src/gatt-client.c).
enum GATTFailure: Equatable {
    case busy
    case wantsPairing
    case tooLong
    /// A handler of the firmware failed.
    case refused
    /// The board, or BlueZ, does not allow this use of the attribute.
    case notAllowed
    /// An error that says nothing about the request (ATT error 0x0e, "unlikely", and BlueZ's own), over a link that continues. The board
    /// may have acted on the request.
    case unclear
    case linkLost
    case timeout
    case cancelled
    /// A firmware's refusal, or BlueZ's error for an operation that the end of the link interrupted: ATT error 0x0e ("unlikely") from 5.66,
    /// other texts from other versions.
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
        case BlueZErrorName.inProgress: self = .busy
        case BlueZErrorName.invalidArguments where text == "Invalid Length": self = .tooLong
        case BlueZErrorName.notPermitted where text == "Not paired": self = .wantsPairing
        case BlueZErrorName.notPermitted, BlueZErrorName.notSupported, BlueZErrorName.notAuthorized,
            BlueZErrorName.invalidArguments:
            self = .notAllowed
        case BlueZErrorName.notConnected, DBusErrorName.unknownObject: self = .linkLost
        // BlueZ stopped waiting for its own answer, or ended.
        case DBusErrorName.noReply: self = .timeout
        // If BlueZ is gone, so are its links.
        case let name where DBusErrorName.isAbsence(name): self = .linkLost
        case BlueZErrorName.failed where text == "Not connected": self = .linkLost
        case BlueZErrorName.failed where Self.isHandlers(text): self = .refused
        default: self = .ambiguous
        }
    }

    /// Whether this is the error of a failed handler of the firmware: 0x04 from NimBLE, 0x85 from Bluedroid, an application's 0x80 to 0x9f
    /// from others (ESP-IDF, protocomm_nimble.c and simple_ble.c).
    private static func isHandlers(_ text: String) -> Bool {
        let words = "Operation failed with ATT error: 0x"
        guard text.hasPrefix(words), let code = UInt8(text.dropFirst(words.count).prefix(2), radix: 16) else {
            return false
        }
        return code == 0x04 || (0x80...0x9F).contains(code)
    }

    func error(_ cause: DBusError) -> BluetoothError {
        switch self {
        case .cancelled: .cancelled
        case .timeout: BluetoothError(.timeout, message: "The board did not answer in time.")
        case .tooLong: BluetoothError(.tooLong, message: "The board does not accept a value of this length.")
        case .refused: BluetoothError(.refused, message: "The board refused the request: \(cause.message).")
        case .notAllowed:
            BluetoothError(
                .notAllowed, message: "The board does not allow this endpoint to be read or written (\(cause.message))."
            )
        case .unclear, .ambiguous:
            BluetoothError(
                .linkLost,
                message: "The board reported an error, but not its cause (BlueZ says: \(cause.message)).")
        case .wantsPairing:
            BluetoothError(.pairingFailed, message: "The board still requires an encrypted link after pairing.")
        case .linkLost, .busy:
            BluetoothError(.linkLost, message: "The Bluetooth connection to the board broke.")
        }
    }
}
