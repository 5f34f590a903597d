// SPDX-License-Identifier: Apache-2.0
import RainDBus
import RainJSON

extension FirmwareSim {
    /// Puts the board on a real adapter, and says which.
    func serveAdapter(
        _ choice: AdapterChoice, _ board: Board, isEncrypted: Bool, on loop: EventLoop
    ) throws -> JSONValue {
        do throws(AdapterRefusal) {
            let peripheral = try AdapterPeripheral(
                choice, server: GATTServer(board: board), isEncrypted: isEncrypted)
            loop.add(peripheral)
            let adapter = peripheral.adapter
            return .object([
                .init("adapter", .string(adapter?.path ?? "")),
                .init(
                    "boards",
                    .array([
                        .object([
                            .init("address", .string(adapter?.address ?? "")),
                            .init("name", .string(board.identity.name)),
                            .init("node_id", .string(board.identity.nodeID)),
                            .init("pop", .string(board.identity.proofOfPossession)),
                        ])
                    ])),
            ])
        } catch { throw StartError(error.description) }
    }
}
