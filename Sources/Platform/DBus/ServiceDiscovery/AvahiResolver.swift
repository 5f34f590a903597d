// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Asks Avahi where a service is.
struct AvahiResolver {
    let client: DBusClient

    /// Nil where nobody on the network says it, as after a host that has left without a word.
    func resolve(_ item: AvahiItem) async -> DiscoveredService? {
        if let service = await ask(item, for: item.version) { return service }
        // A host that is heard over one version of IP may have an address of the other alone.
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

    /// The answer of `ResolveService`: interface, protocol, name, type, domain, host, address protocol, address, port, TXT, flags.
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
