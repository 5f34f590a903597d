// SPDX-License-Identifier: Apache-2.0

/// NetworkManager, as far as a program needs it that joins a Wi-Fi network for a while and goes back.
///
/// Every call ends within its limit, and promptly when its task is cancelled. One value may be shared by any number of tasks; it has one
/// connection to the bus, and what it joined for this process ends with that connection.
public final class NetworkManagerClient: Sendable {
    let feed: NetworkManagerFeed
    private let client: DBusClient

    /// How long NetworkManager may take for what it answers at once.
    static let callLimit = Duration.seconds(5)
    /// What is waited for is looked at again after this long, should a signal have been missed.
    static let interval = Duration.seconds(1)
    /// More devices or access points than this are not looked at.
    static let maximumObjects = 512

    /// Reaches NetworkManager.
    ///
    /// - Parameter bus: where it is; the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
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

    /// Ends the connection to the bus, and with it what was joined for this process.
    public func close() { client.close() }

    // MARK: devices and what they hear

    /// The Wi-Fi adapters that NetworkManager manages. Throws `noWiFi` where there is none.
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

    /// What a device hears, strongest first: one entry for each name and security.
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

    /// Asks for a scan. NetworkManager refuses one that comes too soon after the last, which is no error here.
    public func scan(_ device: WiFiDevice) async throws(NetworkManagerError) {
        do throws(NetworkManagerError) {
            try await call(device.path, NetworkManagerName.wireless, "RequestScan", [.properties([])])
        } catch {
            guard error.code == .failed else { throw error }
        }
    }

    /// What a device is connected by; nil for nothing.
    public func connection(_ device: WiFiDevice) async throws(NetworkManagerError) -> NetworkConnection? {
        guard let path = try await properties(device.path, NetworkManagerName.device)?["ActiveConnection"]?.text,
            path != "/", let properties = try await properties(path, NetworkManagerName.active)
        else { return nil }
        return NetworkConnection(path: path, properties)
    }

    /// The name of the network that a device is on; nil for none.
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

    /// All properties of an object; nil where it has gone meanwhile.
    func properties(_ path: String, _ interface: String) async throws(NetworkManagerError) -> DBusValue? {
        do {
            let get = DBusCall(
                NetworkManagerName.service, path, NetworkManagerName.properties, "GetAll", [.string(interface)])
            return try await client.call(get, within: Self.callLimit).first
        } catch {
            // Without the object there is no such method; so says GDBus (G_DBUS_ERROR_UNKNOWN_METHOD), and others say what is.
            if [DBusErrorName.unknownObject, DBusErrorName.unknownMethod, DBusErrorName.invalidArguments]
                .contains(error.name)
            {
                return nil
            }
            throw NetworkManagerError(error)
        }
    }
}
