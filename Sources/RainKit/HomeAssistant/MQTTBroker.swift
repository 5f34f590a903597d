// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The address of an MQTT broker, and how to be accepted there.
public struct MQTTBroker: Sendable {
    /// The host's name or address.
    public var host: String
    /// The port.
    public var port: UInt16
    /// Whether the connection is encrypted (`mqtts`).
    public var isSecure: Bool
    /// The user's name; nil for brokers that accept everybody.
    public var user: String?
    /// The user's password.
    public var password: RainKitSecret?
    /// The path of the certificate authorities to trust instead of the system's, in PEM.
    public var certificateAuthorities: String?
    /// The path of the client's certificate, in PEM.
    public var certificate: String?
    /// The path of its key.
    public var key: String?

    /// - Parameter url: `mqtt://HOST[:PORT]` or `mqtts://HOST[:PORT]`, perhaps with `USER@`. A password does not belong there, because other
    ///   users of this machine can see it.
    /// - Throws: `RainKitError` (`usage`) for anything else.
    public init(_ url: String) throws {
        func unusable(_ reason: String) -> RainKitError {
            .usage("\"\(ShownText.withoutUserInfo(url).onOneLine)\" is not the address of a broker: \(reason).")
        }
        let parts = url.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[1].isEmpty, ["mqtt:", "mqtts:"].contains(parts[0].lowercased()) else {
            throw unusable("it must be mqtt://HOST or mqtts://HOST")
        }
        guard parts.count == 3 || parts.count == 4 && parts[3].isEmpty else {
            throw unusable("nothing may follow the host and the port")
        }
        isSecure = parts[0].lowercased() == "mqtts:"
        var place = parts[2]
        if let at = place.lastIndex(of: "@") {
            let name = place[..<at]
            guard !name.contains(":") else {
                throw RainKitError.usage(
                    "The address of the broker has a password, which other users of this machine can see: put the password into a file."
                )
            }
            guard !name.isEmpty else { throw unusable("the name before @ is empty") }
            user = String(name)
            place = place[place.index(after: at)...]
        }
        var port: UInt16? = isSecure ? 8883 : 1883
        if place.hasPrefix("["), let end = place.firstIndex(of: "]") {
            host = String(place[place.index(after: place.startIndex)..<end])
            let rest = place[place.index(after: end)...]
            if !rest.isEmpty { port = rest.first == ":" ? UInt16(rest.dropFirst()) : nil }
        } else if let colon = place.lastIndex(of: ":") {
            host = String(place[..<colon])
            port = UInt16(place[place.index(after: colon)...])
        } else {
            host = String(place)
        }
        guard let port, port > 0 else { throw unusable("the port is not a number from 1 to 65535") }
        guard !host.isEmpty, host.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw unusable("it has no host")
        }
        self.port = port
    }
}

extension MQTTBroker: CustomStringConvertible {
    /// `HOST:PORT`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host.onOneLine):\(port)" }
}
