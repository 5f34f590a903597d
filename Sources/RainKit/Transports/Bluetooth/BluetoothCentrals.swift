// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommTransports
import RainDBus

/// The connections to BlueZ that a transport has open: one for each adapter that was named, made when it is first needed.
actor BluetoothCentrals {
    private let bus: DBusAddress
    private var opening: [String: Task<Result<BluetoothCentral, BluetoothError>, Never>] = [:]

    init(bus: DBusAddress) { self.bus = bus }

    /// Throws what `BluetoothCentral` throws where it cannot be opened; the next caller tries again.
    func central(_ adapter: String?, logger: Logger) async throws(BluetoothError) -> BluetoothCentral {
        let key = adapter ?? ""
        // Not the caller's: others wait for it as well. It is done within two seconds.
        let task =
            opening[key]
            ?? Task { [bus] in
                do throws(BluetoothError) {
                    return .success(try await BluetoothCentral.open(adapter: adapter, bus: bus, logger: logger))
                } catch {
                    return .failure(error)
                }
            }
        opening[key] = task
        let result = await task.value
        if case .failure = result, opening[key] == task { opening[key] = nil }
        if Task.isCancelled { throw BluetoothError(.cancelled, message: "Cancelled.") }
        return try result.get()
    }

    func close() async {
        let open = opening.values
        opening = [:]
        for task in open {
            if case .success(let central) = await task.value { central.close() }
        }
    }
}
