// SPDX-License-Identifier: Apache-2.0

/// A received message.
public struct DBusMessage: Sendable {
    /// The kind of a message. The raw values are its type on the wire (D-Bus specification, "Message Format").
    public enum Kind: UInt8, Sendable { case call = 1, reply, error, signal }

    /// Call, reply, error or signal. It decides which of the other fields are set.
    public var kind: Kind
    /// The sender's number for this message.
    public var serial: UInt64
    /// For a reply or an error: the number of the call, as returned by ``DBusConnection/send(_:)``.
    public var replySerial: UInt64?
    /// The unique name of the sending connection, such as `:1.7`. The bus writes it, so no sender can fake it.
    public var sender: String?
    /// The name of the recipient; nil for a broadcast signal.
    public var destination: String?
    /// The called object, or the object that sent the signal; nil in replies and errors.
    public var path: String?
    /// The interface of the called method or of the signal. Calls may leave it out; replies and errors have none.
    public var interface: String?
    /// The name of the called method or of the signal; nil in replies and errors.
    public var member: String?
    /// For an error: its name, such as `org.bluez.Error.Failed`.
    public var errorName: String?
    /// Whether the caller expects an answer.
    public var expectsReply: Bool
    /// The values of the body, in their order; empty while only the head is read, as in ``DBusClient/Handlers/admits``.
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

    /// The types of all arguments, such as `oa{sv}`.
    public var signature: String { arguments.map(\.signature).joined() }
}

/// A message to send.
public enum DBusOutgoing: Sendable {
    /// A method call. Its answer has the number of this message in ``DBusMessage/replySerial``.
    case call(DBusCall)
    /// The answer to a call from ``DBusConnection/process()``; each call has one answer.
    case reply(to: DBusMessage, [DBusValue])
    /// An error as the answer to a call: a D-Bus error name, such as `org.bluez.Error.Rejected`, and a text for people.
    case error(to: DBusMessage, name: String, message: String)
    /// A signal: to one connection if there is a destination, otherwise to every connection whose match rules fit.
    case signal(path: String, interface: String, member: String, [DBusValue], to: String? = nil)
}

/// A method call.
public struct DBusCall: Sendable {
    /// The name of the called service: a well-known one, such as `org.bluez`, or a unique one, such as `:1.42`.
    public var destination: String
    /// The path of the called object, such as `/org/bluez/hci0`.
    public var path: String
    /// The interface that the method belongs to, such as `org.bluez.Adapter1`.
    public var interface: String
    /// The method's name, such as `StartDiscovery`.
    public var member: String
    /// The arguments, in the order of the method's signature.
    public var arguments: [DBusValue]
    /// Whether an answer is expected. Without one, the caller does not learn of a failure.
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

    /// Makes a call to the bus itself.
    public static func bus(_ member: String, _ arguments: [DBusValue] = []) -> DBusCall {
        DBusCall("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
    }
}

/// A D-Bus value with its type.
public enum DBusValue: Sendable, Hashable {
    /// `y`: an unsigned number of 8 bits.
    case byte(UInt8)
    /// `b`.
    case bool(Bool)
    /// `n`.
    case int16(Int16)
    /// `q`.
    case uint16(UInt16)
    /// `i`.
    case int32(Int32)
    /// `u`.
    case uint32(UInt32)
    /// `x`.
    case int64(Int64)
    /// `t`.
    case uint64(UInt64)
    /// `d`: 64-bit floating point.
    case double(Double)
    /// `s`: UTF-8 text without NUL.
    case string(String)
    /// `o`: the path of an object, such as `/org/bluez/hci0`.
    case objectPath(String)
    /// `g`: a list of types, such as `a{sv}`.
    case signature(String)
    /// `ay`.
    case bytes([UInt8])
    /// The elements, and the signature of each.
    case array([DBusValue], of: String)
    /// The entries in their order, and the signatures of keys and values.
    case dictionary([DBusEntry], key: String, value: String)
    /// `(…)`: the members in their order, each of its own type.
    case structure([DBusValue])
    /// `v`: a value of any type, and its type.
    indirect case variant(DBusValue)

    /// The type of this value in the specification's notation, such as `a{sv}`.
    public var signature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(_, let element): "a" + element
        case .dictionary(_, let key, let value): "a{" + key + value + "}"
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }
}

/// One entry of a dictionary.
public struct DBusEntry: Sendable, Hashable {
    /// A value of a basic type: neither an array, a dictionary, a structure nor a variant (D-Bus specification, "Type System").
    public var key: DBusValue
    /// A value of any type; in `a{sv}` a ``DBusValue/variant(_:)``.
    public var value: DBusValue

    public init(_ key: DBusValue, _ value: DBusValue) {
        self.key = key
        self.value = value
    }
}

// MARK: Making common values

extension DBusValue {
    /// Makes an `as`.
    public static func strings(_ strings: [String]) -> DBusValue { .array(strings.map { .string($0) }, of: "s") }

    /// Makes an `a{sv}`; each value is wrapped in a variant.
    public static func properties(_ properties: [(String, DBusValue)]) -> DBusValue {
        .dictionary(properties.map { DBusEntry(.string($0.0), .variant($0.1)) }, key: "s", value: "v")
    }

    /// Makes an `a{qv}`; each value is wrapped in a variant.
    public static func numbered(_ properties: [(UInt16, DBusValue)]) -> DBusValue {
        .dictionary(properties.map { DBusEntry(.uint16($0.0), .variant($0.1)) }, key: "q", value: "v")
    }
}

// MARK: Reading; all of these look through variants

extension DBusValue {
    /// The value inside all variants.
    public var unwrapped: DBusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }

    /// The text of a string, an object path or a signature; nil for any other type.
    public var text: String? {
        switch unwrapped {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    /// The value of any integer that fits; nil for any other type.
    public var integer: Int? {
        switch unwrapped {
        case .byte(let number): Int(number)
        case .int16(let number): Int(number)
        case .uint16(let number): Int(number)
        case .int32(let number): Int(number)
        case .uint32(let number): Int(exactly: number)
        case .int64(let number): Int(exactly: number)
        case .uint64(let number): Int(exactly: number)
        default: nil
        }
    }

    /// The value of a boolean; nil for any other type.
    public var boolean: Bool? {
        if case .bool(let value) = unwrapped { value } else { nil }
    }

    /// The bytes of an `ay`; nil for any other type.
    public var byteArray: [UInt8]? {
        if case .bytes(let bytes) = unwrapped { bytes } else { nil }
    }

    /// The elements of an array, or the members of a structure; nil for any other type. For an `ay`, see ``byteArray``.
    public var elements: [DBusValue]? {
        switch unwrapped {
        case .array(let elements, _), .structure(let elements): elements
        default: nil
        }
    }

    /// The strings of an array of strings or object paths; nil for any other type.
    public var texts: [String]? {
        guard case .array(let elements, let signature) = unwrapped, signature == "s" || signature == "o" else {
            return nil
        }
        return elements.compactMap(\.text)
    }

    /// The entries of a dictionary in their order; nil for any other type.
    public var entries: [DBusEntry]? {
        if case .dictionary(let entries, _, _) = unwrapped { entries } else { nil }
    }

    /// The value under that key in a dictionary of strings or object paths, without its variant.
    public subscript(key: String) -> DBusValue? {
        entries?.first { $0.key.text == key }?.value.unwrapped
    }
}
