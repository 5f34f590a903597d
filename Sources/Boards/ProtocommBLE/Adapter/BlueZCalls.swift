// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// Calls over one connection to the bus. The first that finds it lost ends all waits for BlueZ, so that it is not used again.
struct BlueZCalls: Sendable {
    let client: DBusClient
    let watch: ObjectWatch

    @discardableResult
    func call(
        _ call: DBusCall, within limit: Duration, inOrder: (@Sendable ([DBusValue]) -> Void)? = nil
    ) async throws(DBusError) -> [DBusValue] {
        do {
            return try await client.call(call, within: limit, inOrder: inOrder)
        } catch {
            if error.code == .disconnected { watch.end(.busLost) }
            throw error
        }
    }

    /// Reads all of BlueZ's objects.
    func load(within limit: Duration) async throws(DBusError) {
        let managed = DBusCall(BlueZName.service, "/", BlueZName.objectManager, "GetManagedObjects")
        try await call(managed, within: limit) { [watch] answer in
            guard let managed = answer.first else { return }
            watch.change { tree in
                tree.load(managed)
                return .everything
            }
        }
    }

    func startScan(_ adapter: String) async -> Result<Void, BluetoothError> {
        do throws(DBusError) {
            // Active scanning is BlueZ's default; without "le" it would look for classic devices half the time.
            let filter = DBusValue.properties([("Transport", .string("le")), ("DuplicateData", .bool(false))])
            try await call(
                DBusCall(BlueZName.service, adapter, BlueZName.adapter, "SetDiscoveryFilter", [filter]),
                within: OpenAdapter.callLimit)
            try await call(
                DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StartDiscovery"),
                within: OpenAdapter.callLimit)
            return .success(())
        } catch {
            // Of this very connection, from before BlueZ answered.
            if error.name == BlueZErrorName.inProgress { return .success(()) }
            return .failure(BluetoothError(adapter: adapter, error))
        }
    }

    func stopScan(_ adapter: String) async {
        _ = try? await call(
            DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StopDiscovery"), within: OpenAdapter.callLimit)
    }
}
