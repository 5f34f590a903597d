import Hashing
import JSON

/// What a board carries from its factory: its name, its proof of possession and its node id.
struct BoardIdentity {
    var name: String
    /// Empty where the board wants none.
    var proofOfPossession: String
    var username: String
    var nodeID: String

    /// Fills in what is not given, as RainMaker does: from 64 random bytes of the `fctry` partition.
    init(
        name: String?, proofOfPossession: String?, username: String, nodeID: String?, isClaimed: Bool,
        random: inout BoardRandom
    ) {
        let factory = random.bytes(64)
        self.name = name ?? "PROV_" + hexDigits(factory.suffix(3))
        self.proofOfPossession = proofOfPossession ?? hexDigits(factory.prefix(4))
        self.username = username
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        // A claimed node has an opaque id of 22 characters; one that is not goes by its MAC address.
        self.nodeID =
            nodeID
            ?? (isClaimed
                ? String(factory[10..<32].map { alphabet[Int($0) % alphabet.count] })
                : "7CDFA1" + hexDigits(factory.suffix(3)).uppercased())
    }

    /// The payload of the board's QR code. Security 2 names the user, no security names no proof.
    func qrCode(security: Int) -> JSONValue {
        var members: [JSONValue.Member] = [.init("ver", "v1"), .init("name", .string(name))]
        if security == 2 { members.append(.init("username", .string(username))) }
        if security > 0, !proofOfPossession.isEmpty { members.append(.init("pop", .string(proofOfPossession))) }
        members.append(.init("transport", "softap"))
        return .object(members)
    }
}
