// SPDX-License-Identifier: Apache-2.0

/// Tracks which connection owns a well-known name on a bus, and so which messages come from that service.
///
/// Match rules only filter broadcasts. A message that is sent to this connection alone arrives whatever the rules say, and the system's bus
/// lets every user send signals. The sender's name can be trusted: the bus writes it (D-Bus specification, "Message Bus Message Routing"),
/// and no two connections have the same unique name.
public struct DBusNameOwner: Sendable {
    /// The bus itself.
    public static let bus = "org.freedesktop.DBus"

    /// The well-known name whose owner is followed, such as `org.bluez`.
    public let name: String
    /// The owner's own name, such as `:1.7`; nil while there is none, and before it is known.
    public private(set) var current: String?
    private var isTold = false

    public init(of name: String) { self.name = name }

    /// The match rule for changes of the owner.
    public var rule: String {
        "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(name)'"
    }

    /// The call that asks the bus for the owner; its answer goes to ``learn(_:)``. Send it after adding ``rule``, or a change may be
    /// missed.
    public var question: DBusCall { .bus("GetNameOwner", [.string(name)]) }

    /// Takes the answer to ``question``, unless a signal has brought a newer owner meanwhile.
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

    /// Takes a signal. If it reports a change of the owner, returns whether the service is there now; otherwise returns nil.
    public mutating func follow(_ signal: DBusMessage) -> Bool? {
        guard signal.sender == Self.bus, signal.member == "NameOwnerChanged", signal.arguments.count == 3,
            signal.arguments[0].text == name, let owner = signal.arguments[2].text
        else { return nil }
        isTold = true
        current = owner.isEmpty ? nil : owner
        return current != nil
    }
}
