// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Synchronization

/// Answers BlueZ's questions while a board's link is encrypted, but only about boards that this process connects to.
///
/// Boards have neither keys nor a display (`NoInputNoOutput`), so there is nothing to compare: Just Works. A board that requires encryption
/// reports it in response to a write. BlueZ then pairs by itself and asks the default agent (`device_confirm_passkey` in src/device.c);
/// without an agent it ends the link. So the agent is registered before a connection, and removed with the last one.
final class PairingAgent: Sendable {
    static let path = "/org/rainkit/agent"

    typealias Call = @Sendable (DBusCall) async throws(DBusError) -> Void

    private struct State {
        var isRegistered = false
        var isDefault = false
        /// The devices that may be paired: each board's device, with the devices that represent the same link.
        var devices: [String: Set<String>] = [:]
        /// The last change at BlueZ; each waits for the previous one.
        var last: Task<Void, any Error>?
    }

    private let state = Mutex(State())

    /// Allows a board to be paired, and registers this agent with BlueZ as the default one, unless it is already registered.
    ///
    /// - Parameter others: devices that represent the same link: its other end, if that is also an adapter of this machine.
    func allow(_ device: String, or others: Set<String> = [], _ call: @escaping Call) async throws(DBusError) {
        state.withLock { $0.devices[device] = others.union([device]) }
        try await change { try await self.register(call) }
    }

    /// Ends that. After the last board the agent is unregistered, and another program's is the default again.
    func forbid(_ device: String, _ call: @escaping Call) async {
        guard state.withLock({ $0.devices.removeValue(forKey: device) != nil && $0.devices.isEmpty }) else { return }
        try? await change { try await self.unregister(call) }
    }

    /// BlueZ has appeared or disappeared: the agent must be registered again.
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
                ? .reply([]) : .error(name: BlueZErrorName.rejected, message: "This program does not pair this device.")
        default: return .error(name: BlueZErrorName.rejected, message: "This agent has no user to ask.")
        }
    }

    // MARK: calls to BlueZ

    /// Makes one change after the other: a board may be added while the last one is removed.
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
