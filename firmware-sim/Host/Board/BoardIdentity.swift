// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainJSON

/// What a board carries from its factory: its name, its proof of possession and its node id.
struct BoardIdentity {
    var name: String
    /// Empty where the board wants none.
    var proofOfPossession: String
    var username: String
    var nodeID: String
    /// The base address in the chip's fuses, six bytes.
    var address: [UInt8]

    /// Fills in what is not given, as RainMaker does: from 64 random bytes of the `fctry` partition.
    init(
        name: String?, proofOfPossession: String?, username: String, nodeID: String?, address: [UInt8]? = nil,
        isClaimed: Bool, random: inout BoardRandom
    ) {
        let factory = random.bytes(64)
        self.name = name ?? "PROV_" + hexDigits(factory.suffix(3))
        self.proofOfPossession = proofOfPossession ?? hexDigits(factory.prefix(4))
        self.username = username
        self.address = address ?? [0x7C, 0xDF, 0xA1] + factory.suffix(3)
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        // A claimed node has an opaque id of 22 characters; one that is not goes by its MAC address.
        self.nodeID =
            nodeID
            ?? (isClaimed
                ? String(factory[10..<32].map { alphabet[Int($0) % alphabet.count] })
                : hexDigits(self.address).uppercased())
    }

    /// The base address as twelve upper-case hex digits.
    var macAddress: String { hexDigits(address).uppercased() }

    /// The board's address on Bluetooth, which is the base address and two: `7C:DF:A1:00:00:02`.
    var bluetoothAddress: String {
        let tail = (UInt32(address[3]) << 16 | UInt32(address[4]) << 8 | UInt32(address[5])) &+ 2
        let bytes = address.prefix(3) + [16, 8, 0].map { UInt8(truncatingIfNeeded: tail >> $0) }
        return bytes.map { hexDigits([$0]).uppercased() }.joined(separator: ":")
    }

    /// The board in the line that says what is there.
    var bluetoothSummary: JSONValue {
        .object([
            .init("address", .string(bluetoothAddress)), .init("name", .string(name)),
            .init("node_id", .string(nodeID)), .init("pop", .string(proofOfPossession)),
        ])
    }

    /// The payload of the board's QR code. Security 2 names the user, no security names no proof.
    func qrCode(security: Int, transport: String) -> JSONValue {
        var members: [JSONValue.Member] = [.init("ver", "v1"), .init("name", .string(name))]
        if security == 2 { members.append(.init("username", .string(username))) }
        if security > 0, !proofOfPossession.isEmpty { members.append(.init("pop", .string(proofOfPossession))) }
        members.append(.init("transport", .string(transport)))
        return .object(members)
    }
}
