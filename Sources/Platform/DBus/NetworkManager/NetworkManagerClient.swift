// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// A client of NetworkManager for programs that join a Wi-Fi network for a while and go back.
///
/// Every call ends within its limit, and promptly when its task is cancelled. Any number of tasks may share one value. It has one
/// connection to the bus, and networks joined for this process are left when that connection ends.
public final class NetworkManagerClient: Sendable {
    let feed: NetworkManagerFeed
    private let client: DBusClient

    /// The limit for NetworkManager's immediate answers.
    static let callLimit = Duration.seconds(5)
    /// The time after which a wait checks again, in case a signal was missed.
    static let interval = Duration.seconds(1)
    /// The maximum number of devices or access points that are examined.
    static let maximumObjects = 512

    /// Connects to NetworkManager.
    ///
    /// - Parameter bus: the bus of NetworkManager. The default is the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    /// - Throws: `noBus`, `notRunning` within two seconds each; `accessDenied`, `cancelled`.
    public static func open(
        bus: DBusAddress = .system, within limit: Duration = .seconds(2)
    ) async throws(NetworkManagerError) -> NetworkManagerClient {
        let feed = NetworkManagerFeed()
        do throws(DBusError) {
            let client = try await DBusClient.connect(bus, within: limit, handlers: feed.handlers)
            do throws(DBusError) {
                try await feed.begin(client, within: limit)
            } catch {
                client.close()
                throw error
            }
            return NetworkManagerClient(client, feed)
        } catch {
            throw NetworkManagerError(error)
        }
    }

    private init(_ client: DBusClient, _ feed: NetworkManagerFeed) {
        self.client = client
        self.feed = feed
    }

    deinit { client.close() }

    /// Ends the connection to the bus, and so leaves the networks that were joined for this process.
    public func close() { client.close() }

    // MARK: Devices and the networks in their range

    /// Returns the Wi-Fi adapters that NetworkManager manages. Throws `noWiFi` if there are none.
    public func devices() async throws(NetworkManagerError) -> [WiFiDevice] {
        let answer = try await call(NetworkManagerName.path, NetworkManagerName.service, "GetDevices")
        var devices: [WiFiDevice] = []
        for path in (answer.first?.texts ?? []).prefix(Self.maximumObjects) {
            guard let properties = try await properties(path, NetworkManagerName.device) else { continue }
            if let device = WiFiDevice(path: path, properties) { devices.append(device) }
        }
        guard !devices.isEmpty else {
            throw NetworkManagerError(
                .noWiFi, message: "NetworkManager manages no Wi-Fi adapter on this machine.")
        }
        return devices
    }

    /// Returns the networks in a device's range, the strongest first: one entry for each name and security.
    public func networks(_ device: WiFiDevice) async throws(NetworkManagerError) -> [HeardNetwork] {
        let answer = try await call(device.path, NetworkManagerName.wireless, "GetAllAccessPoints")
        var heard: [HeardNetwork] = []
        for path in (answer.first?.texts ?? []).prefix(Self.maximumObjects) {
            guard let properties = try await properties(path, NetworkManagerName.accessPoint),
                let network = HeardNetwork(path: path, properties)
            else { continue }
            heard.append(network)
        }
        heard.sort { $0.strength > $1.strength }
        var seen: Set<[UInt8]> = []
        return heard.filter { seen.insert($0.ssid + [$0.security.rawValue]).inserted }
    }

    /// Requests a scan. NetworkManager refuses a scan too soon after the last one, which is not an error here.
    public func scan(_ device: WiFiDevice) async throws(NetworkManagerError) {
        do throws(NetworkManagerError) {
            try await call(device.path, NetworkManagerName.wireless, "RequestScan", [.properties([])])
        } catch {
            guard error.code == .failed else { throw error }
        }
    }

    /// Returns the connection of a device; nil if it is not connected.
    public func connection(_ device: WiFiDevice) async throws(NetworkManagerError) -> NetworkConnection? {
        guard let path = try await properties(device.path, NetworkManagerName.device)?["ActiveConnection"]?.text,
            path != "/", let properties = try await properties(path, NetworkManagerName.active)
        else { return nil }
        return NetworkConnection(path: path, properties)
    }

    /// Returns the network to which a device is connected; nil if it is not connected.
    public func currentNetwork(_ device: WiFiDevice) async throws(NetworkManagerError) -> HeardNetwork? {
        guard let path = try await connection(device)?.accessPoint,
            let properties = try await properties(path, NetworkManagerName.accessPoint)
        else { return nil }
        return HeardNetwork(path: path, properties)
    }

    // MARK: calls

    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
    ) async throws(NetworkManagerError) -> [DBusValue] {
        do {
            return try await client.call(
                DBusCall(NetworkManagerName.service, path, interface, member, arguments), within: Self.callLimit)
        } catch {
            throw NetworkManagerError(error)
        }
    }

    /// Returns all properties of an object; nil if the object no longer exists.
    func properties(_ path: String, _ interface: String) async throws(NetworkManagerError) -> DBusValue? {
        do {
            let get = DBusCall(
                NetworkManagerName.service, path, NetworkManagerName.properties, "GetAll", [.string(interface)])
            return try await client.call(get, within: Self.callLimit).first
        } catch {
            // Without the object there is no such method: GDBus answers with that error (G_DBUS_ERROR_UNKNOWN_METHOD), other libraries with
            // the others.
            if [DBusErrorName.unknownObject, DBusErrorName.unknownMethod, DBusErrorName.invalidArguments]
                .contains(error.name)
            {
                return nil
            }
            throw NetworkManagerError(error)
        }
    }
}

/// Looking for networks.
extension NetworkManagerClient {
    /// A network and the device that receives it.
    public struct Sighting: Sendable {
        /// The device that receives it best.
        public var device: WiFiDevice
        /// The network.
        public var network: HeardNetwork
    }

    /// Scans for a limited time. Passes all networks in range to `body` each time they change, until `body` returns false.
    ///
    /// - Throws: `noWiFi`, `switchedOff`, the errors of calls, and `cancelled`.
    public func look(
        for limit: Duration, _ body: @Sendable ([Sighting]) async throws(NetworkManagerError) -> Bool
    ) async throws(NetworkManagerError) {
        let end = ContinuousClock.now + limit
        var nextScan = ContinuousClock.now
        while true {
            let known = feed.changes
            let devices = try await devices()
            guard devices.contains(where: \.isReady) else {
                throw NetworkManagerError(.switchedOff, message: "Wi-Fi is switched off on this machine.")
            }
            if ContinuousClock.now >= nextScan {
                for device in devices where device.isReady { try await scan(device) }
                nextScan = ContinuousClock.now + Self.betweenScans
            }
            var heard: [Sighting] = []
            for device in devices where device.isReady {
                heard += try await networks(device).map { Sighting(device: device, network: $0) }
            }
            guard try await body(heard) else { return }
            let left = end - ContinuousClock.now
            guard left > .zero else { return }
            await feed.change(after: known, within: min(left, Self.interval))
            // Signals come in bursts, and each check is about a dozen calls.
            if left > Self.burst { try? await Task.sleep(for: Self.burst) }
            if Task.isCancelled { throw .cancelled }
        }
    }

    /// NetworkManager itself keeps scans of the same caller apart by ten seconds at most. A refused scan costs nothing.
    private static let betweenScans = Duration.seconds(4)
    private static let burst = Duration.milliseconds(100)
}

/// Joining a network for a while, and going back.
extension NetworkManagerClient {
    /// Joins a network, and returns once this machine has an address there.
    ///
    /// The profile is volatile and bound to this client (`persist`, `bind-activation` of `AddAndActivateConnection2`, NetworkManager 1.16).
    /// So it is on no disk. When this process is gone, NetworkManager drops the profile and reconnects the device by itself.
    ///
    /// - Parameter owner: the only user of the profile, if this user may not add a profile for all users.
    /// - Throws: `passwordNeeded` and `tooOld` before any change; `wrongPassword`, `notFound`, `noAddress`, `accessDenied`, `failed`,
    ///   `timeout`, `cancelled`. After any of these, the device may have left its network: call ``restore(_:on:insteadOf:within:)``.
    public func join(
        _ profile: TemporaryProfile, on device: WiFiDevice, owner: String?, within limit: Duration
    ) async throws(NetworkManagerError) {
        let end = ContinuousClock.now + limit
        let security = profile.network.security
        guard security != .other else {
            throw NetworkManagerError(
                .failed, message: "The Wi-Fi network \(profile.network.name) requires more than a password.")
        }
        guard security == .open || profile.password != nil else {
            throw NetworkManagerError(
                .passwordNeeded,
                message: "The Wi-Fi network \(profile.network.name) has a password, but none was given.")
        }
        feed.forgetFailure(of: device.path)
        var active: String?
        do throws(NetworkManagerError) {
            active = try await add(profile, on: device, owner: nil)
        } catch {
            // A profile for one user needs fewer rights than one for all users.
            guard error.code == .accessDenied, let owner else { throw error }
            active = try await add(profile, on: device, owner: owner)
        }
        guard let active else {
            throw NetworkManagerError(.failed, message: "NetworkManager did not start the connection.")
        }
        try await activated(
            active, on: device, named: profile.network.name, isSecured: security != .open, until: end)
    }

    private func add(
        _ profile: TemporaryProfile, on device: WiFiDevice, owner: String?
    ) async throws(NetworkManagerError) -> String? {
        let options = DBusValue.properties([
            ("persist", .string("volatile")), ("bind-activation", .string("dbus-client")),
        ])
        // An open network must not be joined with a password for a closed one.
        var profile = profile
        if profile.network.security == .open { profile.password = nil }
        let answer = try await call(
            NetworkManagerName.path, NetworkManagerName.service, "AddAndActivateConnection2",
            [
                profile.settings(owner: owner), .objectPath(device.path), .objectPath(profile.network.path), options,
            ])
        return answer.count > 1 ? answer[1].text : nil
    }

    /// Reconnects a device to its previous connection. Returns once it is connected to that one, or to another one that a person or
    /// NetworkManager has chosen meanwhile.
    ///
    /// - Parameters:
    ///   - previous: the profile's `uuid`; nil if the device was not connected, or its connection cannot be restored.
    ///   - temporary: the `uuid` of the connection that replaced it.
    /// - Returns: the device's connection now.
    /// - Throws: `notFound` if the profile no longer exists, and the errors of joining.
    @discardableResult
    public func restore(
        _ previous: String?, on interface: String, insteadOf temporary: String, within limit: Duration
    ) async throws(NetworkManagerError) -> NetworkConnection? {
        let end = ContinuousClock.now + limit
        guard let device = try await devices().first(where: { $0.interface == interface }) else { return nil }
        let current = try await connection(device)
        if let current, current.uuid != temporary, current.state != .ending {
            if current.state == .activating {
                try await activated(current.path, on: device, named: current.id, isSecured: false, until: end)
            }
            return current
        }
        guard let previous else {
            if let current { try await deactivate(current) }
            return nil
        }
        feed.forgetFailure(of: device.path)
        let profile: [DBusValue]
        do throws(NetworkManagerError) {
            profile = try await call(
                NetworkManagerName.settingsPath, NetworkManagerName.settings, "GetConnectionByUuid", [.string(previous)]
            )
        } catch {
            guard error.code == .failed else { throw error }
            if let current { try await deactivate(current) }
            throw NetworkManagerError(.notFound, message: "The earlier network connection no longer exists.")
        }
        let answer = try await call(
            NetworkManagerName.path, NetworkManagerName.service, "ActivateConnection",
            [.objectPath(profile.first?.text ?? "/"), .objectPath(device.path), .objectPath("/")])
        guard let active = answer.first?.text else { return nil }
        try await activated(active, on: device, named: "used before", isSecured: false, until: end)
        return try await connection(device)
    }

    /// Ends a connection. It is not an error if the connection no longer exists.
    public func deactivate(_ connection: NetworkConnection) async throws(NetworkManagerError) {
        do throws(NetworkManagerError) {
            try await call(
                NetworkManagerName.path, NetworkManagerName.service, "DeactivateConnection",
                [.objectPath(connection.path)])
        } catch {
            guard error.code == .failed else { throw error }
        }
    }

    /// Returns once a connection is up. If the connection fails, its object disappears.
    private func activated(
        _ path: String, on device: WiFiDevice, named name: String, isSecured: Bool,
        until end: ContinuousClock.Instant
    ) async throws(NetworkManagerError) {
        while true {
            let known = feed.changes
            let properties = try await properties(path, NetworkManagerName.active)
            let connection = properties.flatMap { NetworkConnection(path: path, $0) }
            switch connection?.state {
            case .activated: return
            case .activating: break
            case .ending, nil:
                throw NetworkManagerError(
                    failure: feed.failure(of: device.path), of: name, isSecured: isSecured)
            }
            let left = end - ContinuousClock.now
            guard left > .zero else { throw .late }
            await feed.change(after: known, within: min(left, Self.interval))
            if Task.isCancelled { throw .cancelled }
        }
    }
}

/// Handles NetworkManager's signals. A change wakes the waiting tasks; the reason of a device's failure is kept.
///
/// Any user may send signals to this connection; only NetworkManager's own count (``DBusNameOwner``). The state is read again after each.
final class NetworkManagerFeed: Sendable {
    private struct State {
        var owner = DBusNameOwner(of: NetworkManagerName.service)
        var changes = 0
        var waiting: [Waiter<Void>] = []
        /// NMDeviceStateReason of the last failure, by the device's path.
        var failures: [String: Int] = [:]
    }

    private let state = Mutex(State())

    var handlers: DBusClient.Handlers {
        DBusClient.Handlers(
            admits: { message in self.state.withLock { $0.owner.admits(message) } },
            signal: { self.take($0) }, lost: { _ in self.ring() })
    }

    /// Subscribes to NetworkManager's signals. Throws `remote` if it is not on the bus and cannot be started.
    func begin(_ client: DBusClient, within limit: Duration) async throws(DBusError) {
        let (rule, question) = state.withLock { ($0.owner.rule, $0.owner.question) }
        try await client.match("type='signal',sender='\(NetworkManagerName.service)'", within: limit)
        try await client.match(rule, within: limit)
        try await client.call(question, within: limit) { answer in self.state.withLock { $0.owner.learn(answer) } }
    }

    /// The number of changes so far. Read it before you read the state.
    var changes: Int { state.withLock { $0.changes } }

    /// Returns at the next change after that number, after `limit` at the latest, and at once if the task is cancelled.
    func change(after known: Int, within limit: Duration) async {
        let waiter = Waiter<Void>()
        let isOver = state.withLock { state in
            guard state.changes == known else { return true }
            state.waiting.append(waiter)
            return false
        }
        guard !isOver else { return }
        await waiter.value(within: limit) { [self] _ in
            state.withLock { state in state.waiting.removeAll { $0 === waiter } }
            waiter.resume()
        }
    }

    func forgetFailure(of device: String) { state.withLock { $0.failures[device] = nil } }
    func failure(of device: String) -> Int? { state.withLock { $0.failures[device] } }

    private func take(_ signal: DBusMessage) {
        state.withLock { state in
            if state.owner.follow(signal) != nil { return }
            guard state.owner.sent(signal), signal.interface == NetworkManagerName.device,
                signal.member == "StateChanged", signal.arguments.count == 3, let path = signal.path,
                signal.arguments[0].integer == Self.failed, state.failures.count < 64
            else { return }
            state.failures[path] = signal.arguments[2].integer
        }
        ring()
    }

    private func ring() {
        let waiting = state.withLock { state in
            state.changes += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// NM_DEVICE_STATE_FAILED.
    private static let failed = 120
}

/// Names of NetworkManager's API (its D-Bus reference manual).
enum NetworkManagerName {
    static let service = "org.freedesktop.NetworkManager"
    static let path = "/org/freedesktop/NetworkManager"
    static let settingsPath = "/org/freedesktop/NetworkManager/Settings"
    static let settings = "org.freedesktop.NetworkManager.Settings"
    static let device = "org.freedesktop.NetworkManager.Device"
    static let wireless = "org.freedesktop.NetworkManager.Device.Wireless"
    static let accessPoint = "org.freedesktop.NetworkManager.AccessPoint"
    static let active = "org.freedesktop.NetworkManager.Connection.Active"
    static let properties = "org.freedesktop.DBus.Properties"
}
