// SPDX-License-Identifier: Apache-2.0

/// A signal that somebody makes up and sends to each connection of a bus alone, as the system's bus lets every user do. Match rules
/// choose among what is broadcast, and do not keep it away.
public struct ForgedSignal: Sendable {
    public var path: String
    public var interface: String
    public var member: String
    /// In the language of busctl: the signature, then the values.
    public var arguments: [String]

    public init(_ path: String, _ interface: String, _ member: String, _ arguments: [String]) {
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// Nobody is BlueZ any longer.
    public static let bluezLeft = ForgedSignal(
        "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", ["sss", "org.bluez", ":1.0", ""])

    /// A device's connection came or went.
    public static func connected(_ device: String, _ isConnected: Bool) -> ForgedSignal {
        ForgedSignal(
            device, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            ["sa{sv}as", "org.bluez.Device1", "1", "Connected", "b", "\(isConnected)", "0"])
    }

    /// Sends it to everyone on the bus, and returns when the bus has passed it on.
    public func send(on address: String) async throws {
        let bus = "--address=\(address)"
        let driver = ["org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"]
        let names = try await run("busctl", [bus, "call"] + driver + ["ListNames"])
        for word in names.standardOutput.split(whereSeparator: { $0 == " " || $0 == "\"" || $0 == "\n" })
        where word.hasPrefix(":") {
            let sent = try await run(
                "busctl", [bus, "--destination=\(word)", "--", "emit", path, interface, member] + arguments)
            guard sent.status == .exited(0) else { throw ProcessError("busctl emit: \(sent.standardError)") }
        }
    }
}
