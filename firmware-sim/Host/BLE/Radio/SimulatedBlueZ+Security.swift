// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// A link that must be encrypted before a value is read or written. bluetoothd does that by itself within the operation: the board's refusal
/// raises the link's security, the kernel pairs, and the default agent is asked (`device_confirm_passkey` in src/device.c). Without an agent,
/// or with one that does not agree, pairing fails, and the link breaks.
extension SimulatedBlueZ {
    /// Whether an operation at a device's value has to wait for that.
    mutating func mustEncrypt(_ index: Int, now: UInt64) -> Bool {
        guard faults.needsPairing, !devices[index].isPaired else { return false }
        guard !devices[index].isAsking else { return true }
        devices[index].isAsking = true
        guard let sender = defaultAgents.first, let path = agents[sender] else {
            effects.append(.fault(board: index, "no agent"))
            dropLink(index, "not encrypted", now: now)
            return true
        }
        effects.append(
            .ask(
                agent: sender, path: path, device: devices[index].path, board: index, attempt: devices[index].attempt))
        return true
    }

    /// The agent has answered, or has not: then it has left the bus.
    mutating func agentAnswered(_ index: Int, attempt: UInt64, agrees: Bool, now: UInt64) {
        advance(to: now)
        guard devices[index].isAsking, devices[index].attempt == attempt, devices[index].link == .up else { return }
        devices[index].isAsking = false
        guard agrees else { return dropLink(index, "not encrypted", now: now) }
        devices[index].isPaired = true
        changed(.device(index), [("Paired", .bool(true))])
        operate(index, now: now)
    }

    /// The board started anew: its old object goes, and its next advertisement brings another.
    mutating func readdress(_ index: Int, now: UInt64) {
        let before = devices[index].path
        remove(index, now: now)
        devices[index].readdress()
        indexes[before] = nil
        indexes[devices[index].path] = index
        let paths = devices.map(\.path)
        sorted = devices.indices.sorted { paths[$0] < paths[$1] }
        effects += [.fault(board: index, "readdress"), .restart(board: index)]
    }
}
