// SPDX-License-Identifier: Apache-2.0
import Logging
import RainDBus

/// Boards that demand an encrypted link.
extension OpenAdapter {
    /// How long BlueZ may take for what it does about an agent, which most boards do not need.
    private static let agentLimit = Duration.seconds(2)

    /// Sees to it that BlueZ may pair with a board that is about to be connected to. A board that demands no encryption is met without it.
    func allowPairing(_ device: String) async {
        do {
            try await pairing.allow(device, or: otherEnd(of: device)) { (call) async throws(DBusError) in
                try await self.agentCall(call)
            }
        } catch {
            logger.debug("no agent for pairing", metadata: ["cause": "\(error)"])
        }
    }

    func forbidPairing(_ device: String) async {
        await pairing.forbid(device) { (call) async throws(DBusError) in try await self.agentCall(call) }
    }

    private func agentCall(_ call: DBusCall) async throws(DBusError) {
        try await self.call(call.path, call.interface, call.member, call.arguments, within: Self.agentLimit)
    }

    /// Where the board is played by another adapter of this machine, BlueZ asks the same agent for its side: the device that has this
    /// adapter's address, at the adapter that has the board's.
    private func otherEnd(of device: String) -> Set<String> {
        let adapter = path
        return watch.read { tree in
            guard let board = tree[device, BlueZName.device]?["Address"]?.text,
                let own = tree[adapter, BlueZName.adapter]?["Address"]?.text,
                let other = tree.paths(with: BlueZName.adapter, below: BlueZName.root).first(where: {
                    tree[$0, BlueZName.adapter]?["Address"]?.text == board
                }), let path = BoardFilter.address(own).path(below: other)
            else { return [] }
            return [path]
        }
    }

    /// Pairs by Just Works, which is all that boards can; for versions of BlueZ that leave it to their client.
    func pair(_ device: String, within limit: Duration) async throws(BluetoothError) {
        await allowPairing(device)
        do {
            try await call(device, BlueZName.device, "Pair", within: min(limit, .seconds(30)))
        } catch {
            if error.name == BlueZErrorName.alreadyExists { return }
            if error.code == .cancelled { throw .cancelled }
            if error.code == .disconnected { throw .busLost }
            throw BluetoothError(
                .pairingFailed,
                message: "The board wants an encrypted link, and pairing failed (\(error.message)). Remove old "
                    + "pairings with `bluetoothctl remove`, restart the board, and try again.")
        }
    }
}
