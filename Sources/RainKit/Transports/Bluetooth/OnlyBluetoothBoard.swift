// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommTransports
import RainCore

/// The one board that is heard, and that no program on this machine is connected to. Once the first is heard, others get a moment to be
/// heard as well.
func onlyBoard(
    _ central: BluetoothCentral, by end: ContinuousClock.Instant
) async throws(ProvisioningError) -> BoardFilter {
    let heard = HeardBoards()
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
        throw ProvisioningError(error)
    }
    let boards = await heard.boards
    guard let first = boards.first else {
        throw ProvisioningError(
            .unavailable,
            message: "No board was heard over Bluetooth: check that it is powered, near, and in provisioning mode. "
                + "One that this machine is connected to is taken only by its name.", reason: "not_found",
            remedies: [.boardName([])])
    }
    guard boards.count == 1 else {
        throw ProvisioningError(
            .invalidArgument, message: "Several boards are heard.", reason: "several_boards",
            remedies: [.boardName(boards.map(\.label).sorted())])
    }
    return .address(first.address)
}

/// What was heard so far.
private actor HeardBoards {
    private(set) var boards: [DiscoveredBoard] = []

    func add(_ board: DiscoveredBoard) {
        if !boards.contains(where: { $0.address == board.address }) { boards.append(board) }
    }
}
