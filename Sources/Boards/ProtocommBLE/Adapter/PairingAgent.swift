// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Synchronization

/// Answers BlueZ's questions while a board is being paired, and only about that board.
///
/// Boards have neither keys nor a display (`NoInputNoOutput`), so there is nothing to compare: Just Works.
final class PairingAgent: Sendable {
    static let path = "/org/rainkit/agent"

    private struct State {
        var isRegistered = false
        var devices: Set<String> = []
    }

    private let state = Mutex(State())

    /// Registers this agent with BlueZ, unless it is registered already.
    func register(_ call: (DBusCall) async throws(DBusError) -> [DBusValue]) async throws(DBusError) {
        guard !state.withLock({ $0.isRegistered }) else { return }
        do {
            _ = try await call(
                DBusCall(
                    BlueZName.service, "/org/bluez", BlueZName.agentManager, "RegisterAgent",
                    [.objectPath(Self.path), .string("NoInputNoOutput")]))
        } catch {
            guard error.name == BlueZErrorName.alreadyExists else { throw error }
        }
        state.withLock { $0.isRegistered = true }
    }

    /// BlueZ has come or gone: the agent must be registered again.
    func forget() { state.withLock { $0.isRegistered = false } }

    func allow(_ device: String) { state.withLock { _ = $0.devices.insert(device) } }
    func forbid(_ device: String) { state.withLock { _ = $0.devices.remove(device) } }

    func answer(_ call: DBusMessage) -> DBusClient.Answer {
        guard call.path == Self.path, call.interface == BlueZName.agent else { return .unknown }
        switch call.member {
        case "Release":
            state.withLock { $0.isRegistered = false }
            return .reply([])
        case "Cancel": return .reply([])
        case "RequestConfirmation", "RequestAuthorization", "AuthorizeService":
            let isOurs = state.withLock { $0.devices.contains(call.arguments.first?.text ?? "") }
            return isOurs
                ? .reply([]) : .error(name: BlueZErrorName.rejected, message: "Nobody here pairs this device.")
        default: return .error(name: BlueZErrorName.rejected, message: "There is nobody to ask.")
        }
    }
}
