// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import RainDBus

/// This machine's Bluetooth for boards: one adapter of BlueZ, the boards that it receives, and the connections through it.
///
/// One value serves a whole process during its lifetime: the transports of fifty boards share its connection to the bus and its scanner. If
/// D-Bus restarts, or the adapter returns under another name, the next use opens both again. Only the links to boards are lost then, which
/// is reported like any broken link.
public final class BluetoothCentral: Sendable {
    private let lasting: ReconnectingAdapter

    /// The adapter's current or last name, such as `hci0`.
    public var adapterName: String { AdapterChoice.name(lasting.last.path) }

    /// Connects to BlueZ and chooses an adapter. Sends nothing by radio.
    ///
    /// - Parameters:
    ///   - adapter: `hci1` for the adapter that has that name, or an adapter's address, which is found again under any name. Nil chooses
    ///     the first that is switched on, and another one if that is gone.
    ///   - bus: the bus with BlueZ; the system bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    ///   - isBlocked: whether rfkill blocks Bluetooth; nil asks the kernel.
    /// - Throws: `noBus`, `noBlueZ`, `noAdapter`, `poweredOff`, `blocked` or `accessDenied`, within two seconds; `cancelled`.
    public static func open(
        adapter: String? = nil, bus: DBusAddress = .system, isBlocked: (@Sendable () -> Bool)? = nil,
        logger: Logger
    ) async throws(BluetoothError) -> BluetoothCentral {
        try await open(adapter: adapter, bus: bus, isBlocked: isBlocked, logger: logger, isOneOfSeveral: false)
    }

    /// - Parameter isOneOfSeveral: whether another adapter is used if this one fails, so that its return is not waited for.
    static func open(
        adapter: String?, bus: DBusAddress, isBlocked: (@Sendable () -> Bool)? = nil, logger: Logger,
        isOneOfSeveral: Bool
    ) async throws(BluetoothError) -> BluetoothCentral {
        let request = OpenAdapter.Request(
            adapter: adapter, bus: bus, isBlocked: isBlocked ?? { RadioSwitch.isBlocked() },
            patience: isOneOfSeveral ? .milliseconds(500) : AdapterLoss.patience)
        let lasting = ReconnectingAdapter(try await OpenAdapter.open(request, logger: logger)) {
            () async throws(BluetoothError) in
            try await OpenAdapter.open(request, logger: logger)
        }
        return BluetoothCentral(lasting)
    }

    private init(_ lasting: ReconnectingAdapter) { self.lasting = lasting }

    /// Closes the connection to the bus; all running operations end with `cancelled`.
    public func close() { lasting.close() }

    /// The adapter that was opened last.
    var adapter: OpenAdapter { lasting.last }

    /// Runs `body`. If the adapter is lost meanwhile, runs it again on the next adapter, while there is time.
    ///
    /// - Throws: the errors of `body`, and why no adapter can be opened (``open(adapter:bus:isBlocked:logger:)``).
    func withAdapter<Result>(
        until end: ContinuousClock.Instant, _ body: (OpenAdapter) async throws(BluetoothError) -> Result
    ) async throws(BluetoothError) -> Result {
        var adapter = try await lasting.current(until: end)
        while true {
            do {
                return try await body(adapter)
            } catch {
                // The lost adapter may have been replaced.
                guard [.radioLost, .noAdapter].contains(error.code), ContinuousClock.now < end else { throw error }
                let next = try await lasting.current(until: end)
                guard next !== adapter else { throw error }
                adapter = next
            }
        }
    }

    /// Finds the board and connects to it; see ``OpenAdapter/connect(_:within:isFresh:attempts:isFull:)``.
    ///
    /// - Throws: `notFound`, `connectionFailed`, a problem with this machine's Bluetooth, `cancelled`.
    func connect(
        _ filter: BoardFilter, within limit: Duration, isFresh: Bool = false,
        attempts: Int = RetryBudget.maximumAttempts, isFull: @escaping @Sendable () -> Bool = { false }
    ) async throws(BluetoothError) -> BoardLink {
        let end = ContinuousClock.now + limit
        return try await withAdapter(until: end) { (adapter) async throws(BluetoothError) in
            try await adapter.connect(
                filter, within: end - ContinuousClock.now, isFresh: isFresh, attempts: attempts,
                isFull: isFull)
        }
    }

    /// Waits until the board is received, and no transport of this adapter uses it.
    ///
    /// - Throws: `notFound`, a problem with this machine's Bluetooth, `cancelled`.
    func hear(
        _ filter: BoardFilter, until end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> DiscoveredBoard {
        try await withAdapter(until: end) { (adapter) async throws(BluetoothError) in
            try await adapter.hear(filter, until: end)
        }
    }
}

/// Searching for boards.
extension BluetoothCentral {
    /// Scans, and reports each matching board once, as soon as it is received, until `found` returns false or the time is over.
    ///
    /// It continues after an outage of the adapter, of BlueZ or of D-Bus itself, for which it opens another connection, and of a scan that
    /// BlueZ does not start. An outage of more than five seconds is an error.
    ///
    /// - Parameter includesConnected: whether to report also boards that a program on this machine is connected to, although they do not
    ///   advertise.
    /// - Throws: A problem with this machine's Bluetooth (``BluetoothError/isOfThisMachine``), also one that begins during the scan and
    ///   does not end within seconds. `connectionFailed` if BlueZ does not scan. `radioLost` if the time ended before it was clear whether
    ///   the bus returns. `cancelled`. Receiving nothing is not an error.
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

/// Whether rfkill blocks Bluetooth, according to the kernel in sysfs (Documentation/ABI/stable/sysfs-class-rfkill).
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
