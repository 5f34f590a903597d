// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What Avahi says of one search, as it arrives on the thread of the bus, and nothing of what others pretend it says: on the system's bus
/// every user can send a signal to this connection.
final class AvahiFeed: Sendable {
    let items: AsyncStream<AvahiItem>
    let services: AsyncStream<DiscoveredService>
    private let heard: AsyncStream<AvahiItem>.Continuation
    private let resolved: AsyncStream<DiscoveredService>.Continuation
    private let state = Mutex(State())

    private struct State {
        var owner = DBusNameOwner(of: Avahi.service)
        var known: Set<AvahiItem> = []
        var failure: ServiceDiscoveryError?
    }

    init() {
        // No more is put in than ``Avahi/maximumItems``.
        (items, heard) = AsyncStream.makeStream(of: AvahiItem.self)
        (services, resolved) = AsyncStream.makeStream(of: DiscoveredService.self)
    }

    /// Why the search ended before its time.
    var failure: ServiceDiscoveryError? { state.withLock { $0.failure } }

    var handlers: DBusClient.Handlers {
        DBusClient.Handlers(
            admits: { message in self.state.withLock { $0.owner.admits(message) } }, signal: { self.take($0) },
            lost: { _ in self.end(.absent) })
    }

    /// Subscribes to the signals of Avahi, which it sends to this connection alone, and learns which connection is Avahi's.
    func begin(_ client: DBusClient) async throws(DBusError) {
        let (rule, question) = state.withLock { ($0.owner.rule, $0.owner.question) }
        try await client.match("type='signal',sender='\(Avahi.service)'")
        try await client.match(rule)
        do throws(DBusError) {
            try await client.call(question, within: .seconds(2)) { answer in
                self.state.withLock { $0.owner.learn(answer) }
            }
        } catch {
            guard error.name == DBusErrorName.nameHasNoOwner else { throw error }
            // The bus may know how to start it, and says then whose the name is.
            try await client.call(.avahi("GetVersionString", []), within: Avahi.callLimit)
        }
    }

    /// Whether the service was heard over IPv4 as well.
    func hasVersion4(_ item: AvahiItem) -> Bool { state.withLock { $0.known.contains(item.over(Avahi.version4)) } }

    func hand(_ service: DiscoveredService) { resolved.yield(service) }

    func end(_ failure: ServiceDiscoveryError? = nil) {
        state.withLock { $0.failure = $0.failure ?? failure }
        heard.finish()
        resolved.finish()
    }

    private func take(_ signal: DBusMessage) {
        if let isThere = state.withLock({ $0.owner.follow(signal) }) {
            if !isThere { end(.absent) }
            return
        }
        guard state.withLock({ $0.owner.sent(signal) }), signal.interface == Avahi.browserInterface else { return }
        switch signal.member {
        case "ItemNew":
            guard let item = AvahiItem(signal.arguments) else { return }
            let isNew = state.withLock { $0.known.count < Avahi.maximumItems && $0.known.insert(item).inserted }
            if isNew { heard.yield(item) }
        // One that comes again may be another board, or be elsewhere.
        case "ItemRemove":
            guard let item = AvahiItem(signal.arguments) else { return }
            state.withLock { _ = $0.known.remove(item) }
        case "Failure":
            end(
                ServiceDiscoveryError(
                    .failed,
                    message: "Avahi does not look for services: \(signal.arguments.first?.text ?? "no reason given")."))
        default: break
        }
    }
}
