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

    /// Begins the scan of this connection.
    ///
    /// BlueZ answers `InProgress` where the kernel could not start scanning, and forgets the caller then (`start_discovery_complete` in
    /// src/adapter.c); it answers the same to a connection that scans already, because an earlier answer was lost.
    func startScan(_ adapter: String) async -> Result<Void, BluetoothError> {
        do throws(DBusError) {
            // Active scanning is BlueZ's default; without "le" it would look for classic devices half the time.
            let filter = DBusValue.properties([("Transport", .string("le")), ("DuplicateData", .bool(false))])
            try await call(
                DBusCall(BlueZName.service, adapter, BlueZName.adapter, "SetDiscoveryFilter", [filter]),
                within: OpenAdapter.callLimit)
            do throws(DBusError) {
                try await startDiscovery(adapter)
            } catch {
                guard error.name == BlueZErrorName.inProgress, await stopScan(adapter) else { throw error }
                try await startDiscovery(adapter)
            }
            return .success(())
        } catch {
            return .failure(BluetoothError(scanning: adapter, error))
        }
    }

    private func startDiscovery(_ adapter: String) async throws(DBusError) {
        try await call(
            DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StartDiscovery"), within: OpenAdapter.callLimit)
    }

    /// Returns whether there was a scan of this connection.
    @discardableResult
    func stopScan(_ adapter: String) async -> Bool {
        let stop = DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StopDiscovery")
        return (try? await call(stop, within: OpenAdapter.callLimit)) != nil
    }
}
