// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Avahi's interface on D-Bus (`avahi-daemon/*.xml` and `avahi-common/{address,defs}.h` of avahi 0.8).
enum Avahi {
    static let service = "org.freedesktop.Avahi"
    static let browserInterface = "org.freedesktop.Avahi.ServiceBrowser"
    /// `AVAHI_IF_UNSPEC`, `AVAHI_PROTO_UNSPEC`.
    static let any: Int32 = -1
    /// `AVAHI_PROTO_INET`.
    static let version4: Int32 = 0
    /// `AVAHI_PROTO_INET6`.
    static let version6: Int32 = 1
    /// Avahi itself gives up resolving after five seconds.
    static let callLimit = Duration.seconds(6)
    /// How long an IPv6 record waits for an IPv4 record. A host sends both within some milliseconds.
    static let versionGrace = Duration.milliseconds(250)
    /// The maximum number of names in one search. A network with more services of one type was not set up by a person.
    static let maximumItems = 1024
    /// The maximum number of TXT entries that are read.
    static let maximumEntries = 64
}

extension DBusCall {
    static func avahi(_ member: String, _ arguments: [DBusValue]) -> DBusCall {
        DBusCall(Avahi.service, "/", "org.freedesktop.Avahi.Server", member, arguments)
    }
}

/// A name that was found on one interface over one version of IP.
struct AvahiItem: Sendable, Hashable {
    var interface: Int32
    var version: Int32
    var name: String
    var type: String
    var domain: String

    var isVersion6: Bool { version == Avahi.version6 }

    /// Returns the same name over the other version.
    func over(_ version: Int32) -> AvahiItem {
        var item = self
        item.version = version
        return item
    }

    /// Reads the arguments of `ItemNew`.
    init?(_ arguments: [DBusValue]) {
        guard arguments.count >= 5, let interface = arguments[0].integer, let version = arguments[1].integer,
            let name = arguments[2].text, let type = arguments[3].text, let domain = arguments[4].text
        else { return nil }
        self.interface = Int32(truncatingIfNeeded: interface)
        self.version = Int32(truncatingIfNeeded: version)
        (self.name, self.type, self.domain) = (name, type, domain)
    }
}

/// The signals of Avahi for one search, which arrive on the bus's thread. Signals of other senders are ignored: on the system's bus every
/// user can send a signal to this connection.
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
        // It receives at most ``Avahi/maximumItems``.
        (items, heard) = AsyncStream.makeStream(of: AvahiItem.self)
        (services, resolved) = AsyncStream.makeStream(of: DiscoveredService.self)
    }

    /// The reason why the search ended early.
    var failure: ServiceDiscoveryError? { state.withLock { $0.failure } }

    var handlers: DBusClient.Handlers {
        DBusClient.Handlers(
            admits: { message in self.state.withLock { $0.owner.admits(message) } }, signal: { self.take($0) },
            lost: { _ in self.end(.ended) })
    }

    /// Subscribes to the signals that Avahi sends to this connection alone, and learns which connection is Avahi's.
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
            // This call makes the bus start Avahi if it can; then the bus reports the name's owner.
            try await client.call(.avahi("GetVersionString", []), within: Avahi.callLimit)
        }
    }

    /// Whether the service was also found over IPv4.
    func hasVersion4(_ item: AvahiItem) -> Bool { state.withLock { $0.known.contains(item.over(Avahi.version4)) } }

    func hand(_ service: DiscoveredService) { resolved.yield(service) }

    func end(_ failure: ServiceDiscoveryError? = nil) {
        state.withLock { $0.failure = $0.failure ?? failure }
        heard.finish()
        resolved.finish()
    }

    private func take(_ signal: DBusMessage) {
        if let isThere = state.withLock({ $0.owner.follow(signal) }) {
            if !isThere { end(.ended) }
            return
        }
        guard state.withLock({ $0.owner.sent(signal) }), signal.interface == Avahi.browserInterface else { return }
        switch signal.member {
        case "ItemNew":
            guard let item = AvahiItem(signal.arguments) else { return }
            let isNew = state.withLock { $0.known.count < Avahi.maximumItems && $0.known.insert(item).inserted }
            if isNew { heard.yield(item) }
        // A name that appears again may be another board, or may have another address.
        case "ItemRemove":
            guard let item = AvahiItem(signal.arguments) else { return }
            state.withLock { _ = $0.known.remove(item) }
        case "Failure":
            end(
                ServiceDiscoveryError(
                    .failed,
                    message: "Avahi cannot look for services: \(signal.arguments.first?.text ?? "no reason given")."))
        default: break
        }
    }
}

/// Asks Avahi for the address of a service.
struct AvahiResolver {
    let client: DBusClient

    /// Returns nil if no host on the network answers, for example because the host left without notice.
    func resolve(_ item: AvahiItem) async -> DiscoveredService? {
        if let service = await ask(item, for: item.version) { return service }
        // A host that is found over one version of IP may have addresses of the other version only.
        return await ask(item, for: Avahi.any)
    }

    private func ask(_ item: AvahiItem, for version: Int32) async -> DiscoveredService? {
        let call = DBusCall.avahi(
            "ResolveService",
            [
                .int32(item.interface), .int32(item.version), .string(item.name), .string(item.type),
                .string(item.domain), .int32(version), .uint32(0),
            ])
        guard let answer = try? await client.call(call, within: Avahi.callLimit) else { return nil }
        return Self.service(answer)
    }

    /// Reads the answer of `ResolveService`: interface, protocol, name, type, domain, host, address protocol, address, port, TXT, flags.
    static func service(_ answer: [DBusValue]) -> DiscoveredService? {
        guard answer.count >= 10, let name = answer[2].text, let host = answer[5].text, var address = answer[7].text,
            let port = answer[8].integer, (1...65535).contains(port), !address.isEmpty
        else { return nil }
        if address.lowercased().hasPrefix("fe80:"), let interface = answer[0].integer,
            let zone = interfaceName(UInt32(truncatingIfNeeded: interface))
        {
            address += "%\(zone)"
        }
        return DiscoveredService(
            name: name, host: host, address: address, port: port, text: entries(answer[9].elements ?? []))
    }

    /// RFC 6763, 6.3 and 6.4.
    static func entries(_ records: [DBusValue]) -> [String: String] {
        var text: [String: String] = [:]
        for record in records.prefix(Avahi.maximumEntries) {
            guard let bytes = record.byteArray else { continue }
            let end = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
            guard end > 0, let key = String(validating: bytes[..<end], as: UTF8.self),
                let value = String(validating: bytes[end...].dropFirst(), as: UTF8.self)
            else { continue }
            if text[key.lowercased()] == nil { text[key.lowercased()] = value }
        }
        return text
    }

    private static func interfaceName(_ index: UInt32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(index, &buffer) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
