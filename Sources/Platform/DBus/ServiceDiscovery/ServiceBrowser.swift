// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Looks for services on this machine's network through Avahi, the multicast DNS daemon of Linux desktops and servers.
///
/// Each search has its own connection to D-Bus, and leaves no objects behind in Avahi.
public struct ServiceBrowser: Sendable {
    private let bus: DBusAddress

    /// - Parameter bus: the bus of Avahi. The default is the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    public init(bus: DBusAddress = .system) { self.bus = bus }

    /// Passes each service of these types in the `local` domain to `found` as soon as its address is known, one after the other. Ends when
    /// `found` returns false or the time is over. A service on several interfaces is passed once for each. It is not an error if there are
    /// none.
    ///
    /// - Parameter types: the service types, such as `_http._tcp`.
    /// - Throws: `noBus`, `noAvahi`, `notAllowed`, `failed`; `cancelled`.
    public func browse(
        _ types: [String], for limit: Duration, found: @Sendable (DiscoveredService) async -> Bool
    ) async throws(ServiceDiscoveryError) {
        let feed = AvahiFeed()
        let client: DBusClient
        do throws(DBusError) {
            client = try await DBusClient.connect(bus, handlers: feed.handlers)
            try await feed.begin(client)
            for type in types {
                try await client.call(
                    .avahi(
                        "ServiceBrowserNew",
                        [.int32(Avahi.any), .int32(Avahi.any), .string(type), .string("local"), .uint32(0)]),
                    within: Avahi.callLimit)
            }
        } catch {
            throw ServiceDiscoveryError(error)
        }
        defer { client.close() }
        let timer = Task {
            try await Task.sleep(for: limit)
            feed.end()
        }
        defer { timer.cancel() }
        let resolving = Task { await Self.resolve(feed, client) }
        defer { resolving.cancel() }
        for await service in feed.services {
            guard await found(service) else { return }
        }
        if Task.isCancelled { throw ServiceDiscoveryError(.cancelled, message: "Cancelled.") }
        if let failure = feed.failure { throw failure }
    }

    /// Resolves each name as it is found, several at a time.
    private static func resolve(_ feed: AvahiFeed, _ client: DBusClient) async {
        await withTaskGroup(of: Void.self) { group in
            for await item in feed.items {
                group.addTask {
                    if item.isVersion6 {
                        // IPv4 and IPv6 records come separately, and in no fixed order. A service that has both is reached over IPv4.
                        try? await Task.sleep(for: Avahi.versionGrace)
                        guard !feed.hasVersion4(item) else { return }
                    }
                    if let service = await AvahiResolver(client: client).resolve(item) { feed.hand(service) }
                }
            }
        }
    }
}

/// A service that a host on the network announces by multicast DNS (RFC 6762, RFC 6763), with one of its addresses.
public struct DiscoveredService: Sendable, Hashable {
    /// Its name on the network. If another service on the same link has the name, that one's host renames it, to `Lamp #2` or `Lamp-2`.
    public var name: String
    /// The host's name, such as `node1.local`.
    public var host: String
    /// An IPv4 address, or an IPv6 address without brackets. A link-local address has its zone, as in `fe80::1%eth0`.
    public var address: String
    /// The port, from 1 to 65535.
    public var port: Int
    /// The TXT record. If a name is repeated, the first one counts (RFC 6763, 6.4). Names are in lower case; values that are not UTF-8 are
    /// left out.
    public var text: [String: String]

    public init(name: String, host: String, address: String, port: Int, text: [String: String] = [:]) {
        self.name = name
        self.host = host
        self.address = address
        self.port = port
        self.text = text
    }

    /// `HOST:PORT` as in a URL, an IPv6 address in brackets.
    public var place: String {
        address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

/// Why this machine cannot look for services on its network.
public struct ServiceDiscoveryError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `noAvahi`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case noBus, noAvahi, notAllowed, failed, cancelled }
        private let value: Value
        public var description: String { value.rawValue }

        /// D-Bus, which Avahi requires, does not run.
        public static let noBus = Code(value: .noBus)
        /// Avahi is not installed, does not run, or ended during the search.
        public static let noAvahi = Code(value: .noAvahi)
        /// D-Bus does not let this user call Avahi.
        public static let notAllowed = Code(value: .notAllowed)
        /// Avahi refused, or did not answer.
        public static let failed = Code(value: .failed)
        /// The calling task was cancelled.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// What happened and what to try.
    public var message: String

    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }

    static let absent = ServiceDiscoveryError(
        .noAvahi,
        message:
            "This machine cannot look for services on the network: Avahi is not running. Install it (apt install avahi-daemon), or start "
            + "it (systemctl start avahi-daemon).")

    /// Avahi, or the bus, ended during the search.
    static let ended = ServiceDiscoveryError(
        .noAvahi,
        message:
            "The search for services on the network has ended, because Avahi has stopped. Restart it (systemctl restart avahi-daemon), and try "
            + "again.")

    init(_ error: DBusError) {
        if DBusErrorName.isAbsence(error.name) || error.code == .disconnected {
            self = .absent
            return
        }
        switch error.code {
        // A container has no bus unless it is given its host's.
        case .unavailable
        where runsInContainer() && error.address?.hasPrefix("unix:path=/run/dbus/system_bus_socket") == true:
            self.init(
                .noBus,
                message:
                    "This container has no D-Bus system bus, which the search for boards on the network needs (Avahi). Mount the host's "
                    + "/run/dbus/system_bus_socket into the container, or give the board's address.")
        case .unavailable:
            self.init(
                .noBus,
                message:
                    "Avahi, which looks for services on the network, cannot be reached over D-Bus: start D-Bus (systemctl start dbus), and "
                    + "install avahi-daemon if it is missing. (\(error.message))")
        case .accessDenied:
            self.init(.notAllowed, message: "D-Bus does not let this user call Avahi: \(error.message)")
        case .cancelled: self.init(.cancelled, message: "Cancelled.")
        case .remote where error.name == DBusErrorName.accessDenied:
            self.init(.notAllowed, message: "D-Bus does not let this user call Avahi: \(error.message)")
        default: self.init(.failed, message: "Avahi cannot look for services: \(error.message)")
        }
    }
}
