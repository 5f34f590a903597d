// SPDX-License-Identifier: Apache-2.0

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
    /// How long an IPv6 record waits for one of IPv4; a host sends both within some milliseconds.
    static let versionGrace = Duration.milliseconds(250)
    /// Names that one search looks after. A network that announces more of a type is not one that a person has set up.
    static let maximumItems = 1024
    /// Entries of a TXT record that are read.
    static let maximumEntries = 64
}

extension DBusCall {
    static func avahi(_ member: String, _ arguments: [DBusValue]) -> DBusCall {
        DBusCall(Avahi.service, "/", "org.freedesktop.Avahi.Server", member, arguments)
    }
}

/// A name that was heard, on one interface over one version of IP.
struct AvahiItem: Sendable, Hashable {
    var interface: Int32
    var version: Int32
    var name: String
    var type: String
    var domain: String

    var isVersion6: Bool { version == Avahi.version6 }

    /// The same, heard over the other version.
    func over(_ version: Int32) -> AvahiItem {
        var item = self
        item.version = version
        return item
    }

    /// The arguments of `ItemNew`.
    init?(_ arguments: [DBusValue]) {
        guard arguments.count >= 5, let interface = arguments[0].integer, let version = arguments[1].integer,
            let name = arguments[2].text, let type = arguments[3].text, let domain = arguments[4].text
        else { return nil }
        self.interface = Int32(truncatingIfNeeded: interface)
        self.version = Int32(truncatingIfNeeded: version)
        (self.name, self.type, self.domain) = (name, type, domain)
    }
}
