// SPDX-License-Identifier: Apache-2.0

/// Looks for services on this machine's network through Avahi, the multicast DNS daemon of Linux desktops and servers.
///
/// Each search has a connection to D-Bus of its own, and leaves nothing behind at Avahi.
public struct ServiceBrowser: Sendable {
    private let bus: DBusAddress

    /// - Parameter bus: where Avahi is; the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    public init(bus: DBusAddress = .system) { self.bus = bus }

    /// Hands over each service of a type in the `local` domain as soon as its address is known, one after the other, until `found` answers
    /// false or the time is over. One that is heard over several interfaces comes once for each. Finding none is no error.
    ///
    /// - Parameter type: such as `_http._tcp`.
    /// - Throws: `noBus`, `noAvahi`, `notAllowed`, `failed`; `cancelled`.
    public func browse(
        _ type: String, for limit: Duration, found: @Sendable (DiscoveredService) async -> Bool
    ) async throws(ServiceDiscoveryError) {
        let feed = AvahiFeed()
        let client: DBusClient
        do throws(DBusError) {
            client = try await DBusClient.connect(bus, handlers: feed.handlers)
            try await feed.begin(client)
            try await client.call(
                .avahi(
                    "ServiceBrowserNew",
                    [.int32(Avahi.any), .int32(Avahi.any), .string(type), .string("local"), .uint32(0)]),
                within: Avahi.callLimit)
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

    /// Asks for the address of each name as it is heard, several at a time.
    private static func resolve(_ feed: AvahiFeed, _ client: DBusClient) async {
        await withTaskGroup(of: Void.self) { group in
            for await item in feed.items {
                group.addTask {
                    if item.isVersion6 {
                        // Records come over IPv4 and IPv6 apart, and in no fixed order: a service that has both is reached by IPv4.
                        try? await Task.sleep(for: Avahi.versionGrace)
                        guard !feed.hasVersion4(item) else { return }
                    }
                    if let service = await AvahiResolver(client: client).resolve(item) { feed.hand(service) }
                }
            }
        }
    }
}
