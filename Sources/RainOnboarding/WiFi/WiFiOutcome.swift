// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

/// A board that stopped answering after it may have taken its Wi-Fi, which may mean that all is well.
struct LostBoard: Sendable {
    var error: ProvisioningError
    var since: Duration
}

/// What became of the Wi-Fi credentials that the board was handed.
enum HandOver: Sendable {
    case accepted
    /// Nobody can say whether it took them.
    case mayBeJoining(LostBoard)
}

/// What is known of the board's Wi-Fi when nothing more is to be learnt from the board.
enum Connection: Sendable {
    case connected(JoinedNetwork)
    /// The cloud heard from the board, which said nothing of its Wi-Fi itself.
    case confirmedByCloud
    case lost(LostBoard)

    var network: JoinedNetwork? {
        if case .connected(let network) = self { network } else { nil }
    }

    var lostBoard: LostBoard? {
        if case .lost(let board) = self { board } else { nil }
    }
}
