// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Synchronization

/// Answers BlueZ's questions while a board's link is encrypted, and only about boards that this process connects to.
///
/// Boards have neither keys nor a display (`NoInputNoOutput`), so there is nothing to compare: Just Works. A board that demands encryption
/// says so within a write: BlueZ then pairs by itself, asks the default agent (`device_confirm_passkey` in src/device.c), and ends the link
/// where there is none. So the agent is there before a connection is, and goes with the last.
final class PairingAgent: Sendable {
    static let path = "/org/rainkit/agent"

    typealias Call = @Sendable (DBusCall) async throws(DBusError) -> Void

    private struct State {
        var isRegistered = false
        var isDefault = false
        /// What may be paired: each board's device, with the devices that stand for the same link.
        var devices: [String: Set<String>] = [:]
        /// The last change at BlueZ; each waits for the one before.
        var last: Task<Void, any Error>?
    }

    private let state = Mutex(State())

    /// Allows a board to be paired, and registers this agent with BlueZ as the default one, unless that is done.
    ///
    /// - Parameter others: devices that stand for the same link: the other end, where that is an adapter of this machine, too.
    func allow(_ device: String, or others: Set<String> = [], _ call: @escaping Call) async throws(DBusError) {
        state.withLock { $0.devices[device] = others.union([device]) }
        try await change { try await self.register(call) }
    }

    /// Ends that; without any board left the agent is taken back, and another program's is the default again.
    func forbid(_ device: String, _ call: @escaping Call) async {
        guard state.withLock({ $0.devices.removeValue(forKey: device) != nil && $0.devices.isEmpty }) else { return }
        try? await change { try await self.unregister(call) }
    }

    /// BlueZ has come or gone: the agent must be registered again.
    func forget() { state.withLock { ($0.isRegistered, $0.isDefault) = (false, false) } }

    func answer(_ call: DBusMessage) -> DBusClient.Answer {
        guard call.path == Self.path, call.interface == BlueZName.agent else { return .unknown }
        switch call.member {
        case "Release":
            forget()
            return .reply([])
        case "Cancel": return .reply([])
        case "RequestConfirmation", "RequestAuthorization", "AuthorizeService":
            let device = call.arguments.first?.text ?? ""
            let isOurs = state.withLock { state in state.devices.values.contains { $0.contains(device) } }
            return isOurs
                ? .reply([]) : .error(name: BlueZErrorName.rejected, message: "Nobody here pairs this device.")
        default: return .error(name: BlueZErrorName.rejected, message: "There is nobody to ask.")
        }
    }

    // MARK: at BlueZ

    /// One change after the other: a board may come while the last one goes.
    private func change(_ body: @escaping @Sendable () async throws -> Void) async throws(DBusError) {
        let task = state.withLock { state in
            let before = state.last
            let task = Task {
                _ = await before?.result
                try await body()
            }
            state.last = task
            return task
        }
        do { try await task.value } catch {
            throw error as? DBusError ?? DBusError(.cancelled, message: "Cancelled.")
        }
    }

    private func register(_ call: Call) async throws(DBusError) {
        let (isRegistered, isDefault) = state.withLock { ($0.isRegistered, $0.isDefault) }
        if !isRegistered {
            do {
                try await call(Self.agentCall("RegisterAgent", [.objectPath(Self.path), .string("NoInputNoOutput")]))
            } catch {
                guard error.name == BlueZErrorName.alreadyExists else { throw error }
            }
            state.withLock { $0.isRegistered = true }
        }
        if !isDefault {
            try await call(Self.agentCall("RequestDefaultAgent", [.objectPath(Self.path)]))
            state.withLock { $0.isDefault = true }
        }
    }

    private func unregister(_ call: Call) async throws(DBusError) {
        guard state.withLock({ $0.devices.isEmpty && $0.isRegistered }) else { return }
        forget()
        try await call(Self.agentCall("UnregisterAgent", [.objectPath(Self.path)]))
    }

    private static func agentCall(_ member: String, _ arguments: [DBusValue]) -> DBusCall {
        DBusCall(BlueZName.service, BlueZName.root, BlueZName.agentManager, member, arguments)
    }
}
