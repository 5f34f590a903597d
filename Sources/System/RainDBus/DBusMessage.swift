// SPDX-License-Identifier: Apache-2.0

/// A message that came in.
public struct DBusMessage: Sendable {
    public enum Kind: UInt8, Sendable { case call = 1, reply, error, signal }

    public var kind: Kind
    /// The sender's number for this message.
    public var serial: UInt64
    /// Of a reply or an error: the number of the call, as ``DBusConnection/send(_:)`` returned it.
    public var replySerial: UInt64?
    public var sender: String?
    public var destination: String?
    public var path: String?
    public var interface: String?
    public var member: String?
    public var errorName: String?
    /// Whether the caller wants an answer.
    public var expectsReply: Bool
    public var arguments: [DBusValue]

    public init(
        kind: Kind, serial: UInt64 = 0, replySerial: UInt64? = nil, sender: String? = nil, destination: String? = nil,
        path: String? = nil, interface: String? = nil, member: String? = nil, errorName: String? = nil,
        expectsReply: Bool = false, arguments: [DBusValue] = []
    ) {
        self.kind = kind
        self.serial = serial
        self.replySerial = replySerial
        self.sender = sender
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.errorName = errorName
        self.expectsReply = expectsReply
        self.arguments = arguments
    }

    /// The types of all arguments: `oa{sv}`.
    public var signature: String { arguments.map(\.signature).joined() }
}

/// A message to be sent.
public enum DBusOutgoing: Sendable {
    case call(DBusCall)
    /// The answer to a call that ``DBusConnection/process()`` handed out; each call has one.
    case reply(to: DBusMessage, [DBusValue])
    case error(to: DBusMessage, name: String, message: String)
    /// To one connection where a destination is given, else to everyone who listens.
    case signal(path: String, interface: String, member: String, [DBusValue], to: String? = nil)
}

/// A method call.
public struct DBusCall: Sendable {
    public var destination: String
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [DBusValue]
    public var expectsReply: Bool

    public init(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [],
        expectsReply: Bool = true
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.expectsReply = expectsReply
    }

    /// A call to the bus itself.
    public static func bus(_ member: String, _ arguments: [DBusValue] = []) -> DBusCall {
        DBusCall("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
    }
}
