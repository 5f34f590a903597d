// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainMaker

/// One board of a ``BatchFile``: how to reach it, and the settings that it gets.
///
/// Its secrets cannot be printed. Neither can its data for the board's application, which may have secrets too.
public struct BatchEntry: Sendable {
    /// The line in the file where the entry begins, from 1.
    public var line: Int
    /// What people call the board: the column `name`, or the name in its QR code, or its address.
    public var name: String
    /// Where the board is.
    public var address: BoardAddress
    /// The content of its QR code, if the file has it.
    public var code: QRPayload?
    /// The board's own name, as its label or its advertisement has it; nil if the file does not have it.
    public var label: String?
    /// The proof of possession: of the column `pop`, or of the QR code, or of the defaults.
    public var proof: ProofOfPossession?
    /// Whether ``proof`` was given beside the QR code. If so, a board that claims Security 0 is refused.
    public var hasGivenProof = false
    /// The board's node id, if it is known: the board is claimed already. A board that answers with another one is refused.
    public var nodeID: NodeID?
    /// The network to join; nil if neither the line nor the defaults have one.
    public var network: WiFiNetwork?
    /// Tags and metadata of the line, together with those of the defaults.
    public var notes = MappingNotes()
    /// The group in the account that the node is put into.
    public var group: String?
    /// The name that the node gets in the account.
    public var nodeName: String?
    /// Data for the board's application.
    public var customData: [CustomData] = []

    public init(line: Int, name: String, address: BoardAddress) {
        self.line = line
        self.name = name
        self.address = address
    }

    /// The user name of Security 2, if the QR code has one.
    public var username: String? { code?.username }

    /// The credentials for a session with the board. They require the security that its QR code promises.
    public var credentials: BoardCredentials {
        var credentials = BoardCredentials(proof: proof, username: username ?? BoardCredentials.defaultUsername)
        credentials.hasProofOfPossession = hasGivenProof
        credentials.accessPointPassphrase = code?.accessPointPassphrase
        if let code { credentials.leastSecurity = code.leastSecurity }
        return credentials
    }

    /// The board as a ledger records it.
    public var board: NewBatch.Board { NewBatch.Board(line: line, name: name, address: address.description) }
}

extension BatchEntry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "line \(line): \(name.onOneLine) at \(address.description.onOneLine)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["line": line, "name": name, "address": address]) }
}

/// What applies to every board of a ``BatchFile`` whose line says nothing else.
public struct BatchDefaults: Sendable {
    /// The transport of lines that have none, such as `ble`. The transport in a QR code has precedence.
    public var transport: String?
    /// The serial port of lines that have none, for boards that are plugged in one after another.
    public var port: String?
    /// The proof of possession of boards whose line and QR code have none.
    public var proof: ProofOfPossession?
    /// The network of lines without `ssid`. A line with its name gets its password.
    public var network: WiFiNetwork?
    /// Tags and metadata for all boards. A line's tag replaces those with the same key, and a line's member of the metadata the one of the
    /// same name.
    public var notes = MappingNotes()
    /// The group of lines that have none.
    public var group: String?
    /// The data for the application of boards whose line has none.
    public var customData: [CustomData] = []
    /// The schemes that lines can name.
    public var transports = ["serial", "ble", "softap", "on-network"]

    public init() {}
}
