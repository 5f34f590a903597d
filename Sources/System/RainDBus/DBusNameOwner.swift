// SPDX-License-Identifier: Apache-2.0

/// Who owns a well-known name on a bus, and so which messages are that service's own.
///
/// Match rules choose among what is broadcast. What somebody sends to this connection alone arrives whatever they say, and the system's
/// bus lets every user send signals. The sender cannot be made up: the bus writes it (D-Bus specification, "Message Bus Message Routing"),
/// and its own name is nobody else's.
public struct DBusNameOwner: Sendable {
    /// The bus itself.
    public static let bus = "org.freedesktop.DBus"

    /// The well-known name whose owner is followed, such as `org.bluez`.
    public let name: String
    /// The owner's own name, such as `:1.7`; nil while there is none, and before it is known.
    public private(set) var current: String?
    private var isTold = false

    public init(of name: String) { self.name = name }

    /// The rule that lets the changes through.
    public var rule: String {
        "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(name)'"
    }

    /// Asks the bus who it is; the answer is for ``learn(_:)``. To be sent after ``rule``, or a change is missed.
    public var question: DBusCall { .bus("GetNameOwner", [.string(name)]) }

    /// Takes the answer to ``question``. What a signal told meanwhile is newer.
    public mutating func learn(_ answer: [DBusValue]) {
        if !isTold { current = answer.first?.text }
    }

    /// Whether it comes from the service or from the bus.
    public func admits(_ message: DBusMessage) -> Bool {
        guard let sender = message.sender else { return false }
        return sender == current || sender == Self.bus
    }

    /// Whether the service itself sent it.
    public func sent(_ message: DBusMessage) -> Bool { message.sender != nil && message.sender == current }

    /// Takes a signal, and says whether the service is there where the signal tells of its coming or going; nil where it does not.
    public mutating func follow(_ signal: DBusMessage) -> Bool? {
        guard signal.sender == Self.bus, signal.member == "NameOwnerChanged", signal.arguments.count == 3,
            signal.arguments[0].text == name, let owner = signal.arguments[2].text
        else { return nil }
        isTold = true
        current = owner.isEmpty ? nil : owner
        return current != nil
    }
}
