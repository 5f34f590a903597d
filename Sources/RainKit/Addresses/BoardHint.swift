// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

/// What a person has said about a board, by options or by its label, before it is looked for.
public struct BoardHint: Sendable {
    /// The transport, where one was named.
    public var scheme: String?
    /// Values of ``BoardTransport/options``, by the options' names.
    public var options: [String: String]
    /// What the board's QR code says.
    public var code: QRPayload?

    public init(scheme: String? = nil, options: [String: String] = [:], code: QRPayload? = nil) {
        self.scheme = scheme
        self.options = options
        self.code = code
    }
}

extension RainKitClient {
    /// The address that is meant: over the transport that was named; else over the one that an option or the QR code speaks of; else over
    /// the one that has a board at hand.
    ///
    /// Throws `invalidArgument` for a transport that is not registered, and for an option that the transport does not have.
    public func address(for hint: BoardHint) throws(ProvisioningError) -> BoardAddress {
        let transport = try transport(for: hint)
        var address = BoardAddress(scheme: transport.scheme)
        for option in transport.options {
            // The name on a label is where a board advertises itself. On a network it has another.
            let isLabelled = option.name == Self.nameOption && option.parameter == nil
            let value = hint.options[option.name] ?? (isLabelled ? hint.code?.name : nil)
            guard let value else { continue }
            if let parameter = option.parameter {
                address.parameters[parameter] = value
            } else {
                address.location = address.location ?? value
            }
        }
        return address
    }

    /// The option that every transport lets stand: over those that do not find boards by name it is only what the board is called.
    public static var nameOption: String { "device-name" }

    private func transport(for hint: BoardHint) throws(ProvisioningError) -> any BoardTransport {
        let transports = configuration.transports
        if let scheme = hint.scheme { return try self.transport(for: BoardAddress(scheme: scheme)) }
        let named = hint.options.keys.filter { $0 != Self.nameOption }
        let candidates = [
            transports.first { transport in transport.options.contains { named.contains($0.name) && !$0.isForOther } },
            transports.first { $0.scheme == hint.code?.transport?.rawValue },
            transports.first { $0.hasBoardAtHand },
            hint.options[Self.nameOption].flatMap { _ in
                transports.first { transport in
                    transport.options.contains { $0.name == Self.nameOption && !$0.isForOther }
                }
            },
            transports.first,
        ]
        guard let found = candidates.compactMap(\.self).first else {
            throw ProvisioningError(.invalidArgument, message: "No transport to boards is registered here.")
        }
        return found
    }
}
