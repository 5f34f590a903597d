// SPDX-License-Identifier: Apache-2.0

/// A message that came in.
public struct DBusMessage: Sendable {
    /// What a message is. The raw values are its type on the wire (D-Bus specification, "Message Format").
    public enum Kind: UInt8, Sendable { case call = 1, reply, error, signal }

    /// Call, reply, error or signal: it decides which of the other fields are set.
    public var kind: Kind
    /// The sender's number for this message.
    public var serial: UInt64
    /// Of a reply or an error: the number of the call, as ``DBusConnection/send(_:)`` returned it.
    public var replySerial: UInt64?
    /// The unique name of the connection that sent it, such as `:1.7`. The bus writes it, so no sender can claim another's.
    public var sender: String?
    /// The name that it was sent to; nil for a broadcast signal.
    public var destination: String?
    /// The object that is called, or that sent the signal; nil in replies and errors.
    public var path: String?
    /// The interface of the called method or of the signal. Calls may leave it out; replies and errors have none.
    public var interface: String?
    /// The name of the called method or of the signal; nil in replies and errors.
    public var member: String?
    /// Of an error: its name, such as `org.bluez.Error.Failed`.
    public var errorName: String?
    /// Whether the caller wants an answer.
    public var expectsReply: Bool
    /// The values of its body, in their order; empty while only the head is read, as in ``DBusClient/Handlers/admits``.
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
    /// A method call. Its answer has the number of this message in ``DBusMessage/replySerial``.
    case call(DBusCall)
    /// The answer to a call that ``DBusConnection/process()`` handed out; each call has one.
    case reply(to: DBusMessage, [DBusValue])
    /// The failure of a call, instead of a reply: a D-Bus error name, such as `org.bluez.Error.Rejected`, and a text for people.
    case error(to: DBusMessage, name: String, message: String)
    /// A signal: to one connection where a destination is given, else to every connection whose match rules fit.
    case signal(path: String, interface: String, member: String, [DBusValue], to: String? = nil)
}

/// A method call.
public struct DBusCall: Sendable {
    /// The name of the service that is called: a well-known one, such as `org.bluez`, or a unique one, such as `:1.42`.
    public var destination: String
    /// The path of the object that is called, such as `/org/bluez/hci0`.
    public var path: String
    /// The interface that the method belongs to, such as `org.bluez.Adapter1`.
    public var interface: String
    /// The method's name, such as `StartDiscovery`.
    public var member: String
    /// The arguments, in the order of the method's signature.
    public var arguments: [DBusValue]
    /// Whether an answer is wanted. Without one, a failure stays unknown to the caller.
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
