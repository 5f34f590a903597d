// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainMaker

/// A board that is on its network and of which the cloud hears nothing: what that means, by what the board has told.
struct StrayBoard: Sendable {
    let board: IdentifiedBoard
    /// What the cloud is called.
    let cloud: String

    /// Nothing has come for ``Patience/report``, and the cloud answers.
    var notReported: StepFailure {
        guard board.identity.needsClaim != nil || board.claimedNode != nil else {
            return .neverClaimed(board.identity.nodeID)
        }
        return StepFailure(
            .notReported,
            message:
                "The board is on its network, and nothing of it has come to \(cloud) within \(Patience.report.formattedSeconds) s. Unless that "
                + "network keeps it from the internet, the board's firmware or its claim belongs to another deployment than "
                + "\(cloud)\(word). Use the profile of the deployment that the board was made for, or give it firmware and a claim of "
                + "\(cloud).")
    }

    /// It has said itself where it connects to.
    func elsewhere(_ host: String, not expected: String) -> StepFailure {
        StepFailure(
            .notReported,
            message:
                "The board is on its network and connects to \(presentable(host)), while the nodes of \(cloud) connect to "
                + "\(presentable(expected)): its firmware or its claim belongs to another deployment than \(cloud). Use the profile of the "
                + "deployment that the board was made for, or give it firmware and a claim of \(cloud).")
    }

    /// What the board says of itself.
    private var word: String {
        var words = board.identity.rainMakerVersion.map { ["rmaker \($0)"] } ?? []
        words += board.identity.capabilities.filter { $0.hasPrefix("rmaker") }.prefix(4)
        if let node = board.claimedNode { words.append("claimed just now as \(node)") }
        return words.isEmpty ? "" : " (it says: \(presentable(words.joined(separator: ", "))))"
    }

    /// Whether both name one broker: a name without a port stands for any. One that lacks a single character is taken for the same, since
    /// cables lose and double bytes, and a board that talks to its cloud is not to be called lost for that.
    static func isSame(_ one: String, _ other: String) -> Bool {
        if lacksOne(one.lowercased(), other.lowercased()) || lacksOne(other.lowercased(), one.lowercased()) {
            return true
        }
        let (one, other) = (split(one), split(other))
        return one.host == other.host && (one.port == nil || other.port == nil || one.port == other.port)
    }

    /// Whether one text is the other without one of its characters.
    private static func lacksOne(_ short: String, _ long: String) -> Bool {
        guard short.utf8.count + 1 == long.utf8.count else { return false }
        let common = zip(short.utf8, long.utf8).prefix { $0 == $1 }.count
        return short.utf8.dropFirst(common).elementsEqual(long.utf8.dropFirst(common + 1))
    }

    private static func split(_ text: String) -> (host: String, port: String?) {
        let text = text.lowercased()
        // An IPv6 address without brackets has no port.
        guard let colon = text.lastIndex(of: ":"),
            text[colon...].utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
            text.hasPrefix("[") || text.firstIndex(of: ":") == colon
        else { return (text, nil) }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }
}

extension StepFailure {
    /// The board's log has said so.
    static var unclaimed: StepFailure {
        StepFailure(
            ProvisioningError(
                .claimFailed,
                message:
                    "The board is on its network without a cloud certificate, so it stays away from the cloud: it was never claimed. Type "
                    + "`reset-to-factory` on its console, then set it up over Bluetooth or its own access point, which claims it on the "
                    + "way.", reason: "unclaimed", remedies: [.otherTransport]))
    }

    /// Nothing has come from a board whose console does not say whether it was claimed.
    static func neverClaimed(_ node: NodeID?) -> StepFailure {
        StepFailure(
            ProvisioningError(
                .claimFailed,
                message:
                    "The board is on its network and has not reported to the cloud within \(Patience.report.formattedSeconds) s. It calls itself "
                    + "\(node.map { "\($0)" } ?? "by no name"), its MAC address, as boards do that were never claimed. Type `reset-to-factory` on "
                    + "its console, then set it up over Bluetooth or its own access point, which claims it on the way. If it was "
                    + "claimed, check that its network has internet access, and that the claim is of this deployment.",
                reason: "claim_unknown", remedies: [.otherTransport]))
    }

    /// Asked to be claimed where nobody can tell, or do it.
    static func claimUnknown(_ node: NodeID?) -> StepFailure {
        StepFailure(
            ProvisioningError(
                .claimFailed,
                message:
                    "The board's console does not tell whether the board has been claimed, and cannot claim it. It calls itself "
                    + "\(node.map { "\($0)" } ?? "by no name"), its MAC address, as boards do before their claim. Claim it over Bluetooth or its own "
                    + "access point.", reason: "claim_unknown", remedies: [.otherTransport]))
    }
}
