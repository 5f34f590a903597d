// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import ProtocommTransports
import RainCore
import RainDBus

/// Boards over Bluetooth Low Energy, through BlueZ. They use all adapters of this machine, unless an address names some.
public struct BluetoothBoards: BoardTransport {
    public let scheme = "ble"
    public let options: [BoardOption] = [.location("device-name"), .parameter("adapter")]
    public let canDiscover = true
    private let centrals: BluetoothCentrals

    /// - Parameter bus: the bus with BlueZ; the system bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    public init(bus: DBusAddress = .system) { centrals = BluetoothCentrals(bus: bus) }

    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(BoardError) {
        let adapter = search.parameters["adapter"]
        do throws(BluetoothError) {
            let logger = search.logger ?? Logger(label: "rainkit") { _ in SwiftLogNoOpLogHandler() }
            let adapters = try await centrals.adapters(adapter, logger: logger)
            try await adapters.discover(search.filter, for: search.time) { board in
                await found(FoundBoard(board, adapter: adapter))
            }
        } catch {
            throw BoardError(error)
        }
    }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board {
        let adapters: BluetoothAdapters
        do throws(BluetoothError) {
            adapters = try await centrals.adapters(address.parameters["adapter"], logger: opening.logger)
        } catch {
            throw BoardError(error)
        }
        let filter: BoardFilter
        if let name = address.location {
            filter = .named(name)
        } else {
            filter = try await onlyBoard(adapters, by: opening.foundBy)
        }
        return opening.protocommBoard(
            over: BLETransport(
                to: filter,
                times: .init(
                    foundBy: opening.foundBy, waiting: max(.zero, ContinuousClock.now.duration(to: opening.foundBy))),
                logger: opening.logger, adapters: adapters))
    }

    public func turn(at address: BoardAddress, logger: Logger) async -> BoardTurn? {
        // A problem is reported by the board's own run.
        guard let adapters = try? await centrals.adapters(address.parameters["adapter"], logger: logger) else {
            return nil
        }
        return await adapters.turn().map { BoardTurn($0) }
    }

    public func close() async { await centrals.close() }
}

extension BoardAddress {
    /// The board with that name, or at that Bluetooth address (`AA:BB:CC:DD:EE:FF`); if none is given, the only one in range.
    ///
    /// - Parameter adapter: `hci1`, or an adapter's address, or several separated by commas; nil for all that are switched on.
    public static func bluetooth(_ name: String? = nil, adapter: String? = nil) -> BoardAddress {
        BoardAddress(scheme: "ble", location: name, parameters: adapter.map { ["adapter": $0] } ?? [:])
    }
}

extension BoardFilter {
    /// Returns the filter for an address, if the text looks like one, otherwise for a name.
    static func named(_ text: String) -> BoardFilter {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let isAddress = parts.count == 6 && parts.allSatisfy { $0.utf8.count == 2 && UInt8($0, radix: 16) != nil }
        return isAddress ? .address(text) : .name(text)
    }
}

extension BoardSearch {
    var filter: BoardFilter {
        if let name { return .named(name) }
        if prefix != nil || !services.isEmpty { return .prefix(prefix ?? "", services: services) }
        return .anyBoard
    }
}

extension FoundBoard {
    init(_ board: DiscoveredBoard, adapter: String?) {
        self.init(
            .bluetooth(board.address, adapter: adapter), name: board.name, signal: board.rssi,
            services: board.serviceUUIDs, isConnected: board.isConnected)
    }
}

extension BoardError {
    /// Converts an error of BlueZ, or of the link through it.
    init(_ error: BluetoothError) {
        let code: Code =
            switch error.code {
            case .linkLost, .timeout: .deviceLost
            case .cancelled: .cancelled
            case .refused, .notAllowed, .tooLong, .pairingFailed: .rejected
            default: .unavailable
            }
        self.init(code, message: error.message, reason: error.code.name)
    }
}

/// Returns the only board in range that no program on this machine is connected to. After the first board, waits a moment for others.
func onlyBoard(
    _ central: BluetoothAdapters, by end: ContinuousClock.Instant
) async throws(BoardError) -> BoardFilter {
    let heard = AdvertisingBoards()
    do throws(BluetoothError) {
        let limit = min(.seconds(20), ContinuousClock.now.duration(to: end))
        try await central.discover(.anyBoard, for: limit, includesConnected: false) {
            await heard.add($0)
            return false
        }
        if await !heard.boards.isEmpty {
            try await central.discover(.anyBoard, for: .milliseconds(1500), includesConnected: false) {
                await heard.add($0)
                return true
            }
        }
    } catch {
        throw BoardError(error)
    }
    let boards = await heard.boards
    guard let first = boards.first else {
        throw BoardError(
            .unavailable,
            message:
                "No board was found over Bluetooth. Check that the board is powered, near, and in provisioning mode. "
                + "A board to which this machine is already connected is found only by its name.", reason: "not_found",
            remedies: [.boardName([])])
    }
    guard boards.count == 1 else {
        throw BoardError(
            .invalidArgument, message: "Several boards were found over Bluetooth.", reason: "several_boards",
            remedies: [.boardName(boards.map(\.label).sorted())])
    }
    return .address(first.address)
}

/// The boards that were found so far.
private actor AdvertisingBoards {
    private(set) var boards: [DiscoveredBoard] = []

    func add(_ board: DiscoveredBoard) {
        if !boards.contains(where: { $0.address == board.address }) { boards.append(board) }
    }
}

/// A transport's open connections to BlueZ: one for each choice of adapters, made when it is first needed.
actor BluetoothCentrals {
    private let bus: DBusAddress
    /// Lazy, so that programs that use no Bluetooth do not spend time on its type.
    private lazy var opening: [String: Task<Result<BluetoothAdapters, BluetoothError>, Never>] = [:]

    init(bus: DBusAddress) { self.bus = bus }

    /// Returns the adapters with these names or addresses, separated by commas; nil for all. Throws the errors of `BluetoothAdapters` if they
    /// cannot be opened; the next caller tries again.
    func adapters(_ names: String?, logger: Logger) async throws(BluetoothError) -> BluetoothAdapters {
        let wanted = (names ?? "").split(separator: ",").map(String.init)
        let key = wanted.joined(separator: ",")
        // Not a part of the caller's task, because others wait for it too. It ends within two seconds.
        let task =
            opening[key]
            ?? Task { [bus] in
                do throws(BluetoothError) {
                    return .success(try await BluetoothAdapters.open(wanted, bus: bus, logger: logger))
                } catch {
                    return .failure(error)
                }
            }
        opening[key] = task
        let result = await task.value
        if case .failure = result, opening[key] == task { opening[key] = nil }
        if Task.isCancelled { throw BluetoothError(.cancelled, message: "Cancelled.") }
        return try result.get()
    }

    func close() async {
        let open = opening.values
        opening = [:]
        for task in open {
            if case .success(let adapters) = await task.value { adapters.close() }
        }
    }
}
