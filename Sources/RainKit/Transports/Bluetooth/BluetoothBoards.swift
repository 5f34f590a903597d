// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import ProtocommTransports
import RainDBus

/// Boards that are heard over Bluetooth Low Energy, through BlueZ. All of them share one connection to it for each adapter.
public struct BluetoothBoards: BoardTransport {
    public let scheme = "ble"
    public let options: [BoardOption] = [.location("device-name"), .parameter("adapter")]
    public let canDiscover = true
    private let centrals: BluetoothCentrals

    /// - Parameter bus: where BlueZ is; the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    public init(bus: DBusAddress = .system) { centrals = BluetoothCentrals(bus: bus) }

    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(ProvisioningError) {
        let adapter = search.parameters["adapter"]
        do throws(BluetoothError) {
            let logger = search.logger ?? Logger(label: "rainkit") { _ in SwiftLogNoOpLogHandler() }
            let central = try await centrals.central(adapter, logger: logger)
            try await central.discover(search.filter, for: search.time) { board in
                await found(FoundBoard(board, adapter: adapter))
            }
        } catch {
            throw ProvisioningError(error)
        }
    }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(ProvisioningError) -> any Board {
        let central: BluetoothCentral
        do throws(BluetoothError) {
            central = try await centrals.central(address.parameters["adapter"], logger: opening.logger)
        } catch {
            throw ProvisioningError(error)
        }
        let filter: BoardFilter
        if let name = address.location {
            filter = .named(name)
        } else {
            filter = try await onlyBoard(central, by: opening.foundBy)
        }
        return opening.protocommBoard(
            over: BLETransport(to: filter, times: .init(foundBy: opening.foundBy), logger: opening.logger) {
                () throws(BluetoothError) in central
            })
    }

    public func close() async { await centrals.close() }
}

extension BoardAddress {
    /// The board of that name, or at that Bluetooth address (`AA:BB:CC:DD:EE:FF`); the only one that is heard, if none is given.
    /// - Parameter adapter: `hci1`, or an adapter's address; the first that is switched on if nil.
    public static func bluetooth(_ name: String? = nil, adapter: String? = nil) -> BoardAddress {
        BoardAddress(scheme: "ble", location: name, parameters: adapter.map { ["adapter": $0] } ?? [:])
    }
}
