// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import RainDBus

/// This machine's Bluetooth, as far as boards need it: one adapter of BlueZ's, what it hears, and the connections through it.
///
/// One value serves a whole process, for as long as that runs: the transports of fifty boards share its connection to the bus and its
/// scanner. Where D-Bus is restarted, or the adapter comes back under another name, the next use opens both anew. Only the links to boards
/// are lost then, which is reported like any broken link.
public final class BluetoothCentral: Sendable {
    private let lasting: ReconnectingAdapter

    /// The adapter's name, `hci0`: the one it has now, or had last.
    public var adapterName: String { AdapterChoice.name(lasting.last.path) }

    /// Reaches BlueZ and chooses an adapter. Nothing is sent by radio.
    ///
    /// - Parameters:
    ///   - adapter: `hci1`, which is whatever adapter has that name; or an adapter's address, which is found again under any name. Nil takes the
    ///     first that is switched on, and another where that is gone.
    ///   - bus: where BlueZ is; the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    ///   - isBlocked: whether rfkill holds Bluetooth off; nil asks the kernel.
    /// - Throws: `noBus`, `noBlueZ`, `noAdapter`, `poweredOff`, `blocked` or `accessDenied`, within two seconds; `cancelled`.
    public static func open(
        adapter: String? = nil, bus: DBusAddress = .system, isBlocked: (@Sendable () -> Bool)? = nil,
        logger: Logger
    ) async throws(BluetoothError) -> BluetoothCentral {
        let request = OpenAdapter.Request(
            adapter: adapter, bus: bus, isBlocked: isBlocked ?? { RadioSwitch.isBlocked() })
        let lasting = ReconnectingAdapter(try await OpenAdapter.open(request, logger: logger)) {
            () async throws(BluetoothError) in
            try await OpenAdapter.open(request, logger: logger)
        }
        return BluetoothCentral(lasting)
    }

    private init(_ lasting: ReconnectingAdapter) { self.lasting = lasting }

    /// Closes the connection to the bus; everything under way ends with `cancelled`.
    public func close() { lasting.close() }

    /// The one that was opened last.
    var adapter: OpenAdapter { lasting.last }

    /// Runs `body`. If the adapter is lost meanwhile, runs it again on the one that is opened in its place, while there is time.
    ///
    /// - Throws: what `body` does, and why no adapter can be opened (``open(adapter:bus:isBlocked:logger:)``).
    func withAdapter<Result>(
        until end: ContinuousClock.Instant, _ body: (OpenAdapter) async throws(BluetoothError) -> Result
    ) async throws(BluetoothError) -> Result {
        var adapter = try await lasting.current(until: end)
        while true {
            do {
                return try await body(adapter)
            } catch {
                // What is gone may have been replaced.
                guard [.radioLost, .noAdapter].contains(error.code), ContinuousClock.now < end else { throw error }
                let next = try await lasting.current(until: end)
                guard next !== adapter else { throw error }
                adapter = next
            }
        }
    }

    /// Finds the board and connects to it; see ``OpenAdapter/connect(_:within:isFresh:)``.
    ///
    /// - Throws: `notFound`, `connectionFailed`, a problem with this machine's Bluetooth, `cancelled`.
    func connect(
        _ filter: BoardFilter, within limit: Duration, isFresh: Bool = false
    ) async throws(BluetoothError) -> BoardLink {
        let end = ContinuousClock.now + limit
        return try await withAdapter(until: end) { (adapter) async throws(BluetoothError) in
            try await adapter.connect(filter, within: end - ContinuousClock.now, isFresh: isFresh)
        }
    }
}

/// Looking for boards.
extension BluetoothCentral {
    /// Scans, and hands over each board that fits as soon as it is heard, once, until `found` answers false or the time is over.
    ///
    /// It goes on after an outage of up to five seconds: of the adapter, of BlueZ, of a scan that BlueZ does not begin, of D-Bus itself,
    /// for which it opens another connection. A longer outage is an error.
    ///
    /// - Parameter includesConnected: whether boards that a program on this machine is connected to are reported as well, though they do
    ///   not advertise.
    /// - Throws: a problem with this machine's Bluetooth (``BluetoothError/isOfThisMachine``), also where that comes about meanwhile, unless it is over
    ///   within seconds; `connectionFailed` where BlueZ does not scan; `radioLost` where time was over before it was clear whether the bus
    ///   comes back; `cancelled`. Hearing nothing is no error.
    public func discover(
        _ filter: BoardFilter, for time: Duration, includesConnected: Bool = true,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        let end = ContinuousClock.now + time
        var heard: Set<String> = []
        try await withAdapter(until: end) { (adapter) async throws(BluetoothError) in
            try await adapter.discover(
                filter, until: end, except: &heard, where: { includesConnected || !$0.isConnected }, found: found)
        }
    }
}

/// Whether rfkill holds Bluetooth off, as the kernel tells it in sysfs (Documentation/ABI/stable/sysfs-class-rfkill).
enum RadioSwitch {
    static func isBlocked(_ folder: String = "/sys/class/rfkill") -> Bool {
        guard let entries = opendir(folder) else { return false }
        defer { closedir(entries) }
        var blocked = false
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("rfkill"), read("\(folder)/\(name)/type") == "bluetooth" else { continue }
            if read("\(folder)/\(name)/soft") == "1" || read("\(folder)/\(name)/hard") == "1" {
                blocked = true
            } else {
                return false
            }
        }
        return blocked
    }

    private static func read(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
