// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainDBus

/// A connection to one board: its endpoints, and the exchange of one value for another.
struct BoardLink: Sendable {
    /// The adapter that the connection goes through.
    let adapter: OpenAdapter
    let board: DiscoveredBoard
    /// Keeps other transports of this process from using the board.
    let hold: BoardHold
    let endpoints: EndpointMap
    /// Bytes of one packet, as the two ends agreed; nil where BlueZ does not say (before 5.62).
    let mtu: Int?

    /// Whether this is still the connection that it was.
    var isUp: Bool {
        hold.isCurrent && adapter.watch.read { Self.isConnected(board.path, $0) }
    }

    static func isConnected(_ device: String, _ tree: ObjectTree) -> Bool {
        tree[device, BlueZName.device]?["Connected"]?.boolean == true
    }

    /// Writes the request with response, and reads what the board left in its place. BlueZ splits what is longer than a packet.
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
