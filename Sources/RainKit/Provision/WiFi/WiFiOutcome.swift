// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

/// A board that stopped answering after it may have taken its Wi-Fi, which may mean that all is well.
struct LostBoard: Sendable {
    var error: ProvisioningError
    var since: Duration
    /// When it was told to join, on the same clock.
    var toldToJoin: Duration = .zero

    /// Told of the steps that it leaves open.
    static let sentence = "the board stopped answering; the cloud is asked what became of it"

    /// The error to end with where the board is in the account by its signature alone.
    var inAccount: ProvisioningError {
        ProvisioningError(
            error.code,
            message:
                "The board is in your account; whether it is on the network is not known. It stopped answering after it was given its "
                + "Wi-Fi settings, and the cloud has not seen it since. Check its power and the Wi-Fi password; unless it shows up as "
                + "connected among your nodes soon, run this again.", cause: error.cause ?? error.message)
    }
}

/// What became of the Wi-Fi credentials that the board was handed.
enum HandOver: Sendable {
    /// - Parameter since: when it was told to join.
    case accepted(since: Duration)
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
