// SPDX-License-Identifier: Apache-2.0

/// What happens to this machine's own network for the sake of a board that is reached over its access point.
public enum NetworkChange: Sendable, Hashable {
    /// The board's network is looked for; without a name the only one in reach.
    case looking(for: String?)
    /// This machine leaves its own network, if it has one, for the board's.
    case joining(String, leaving: String?)
    /// This machine goes back to its own network; nil for none.
    case returning(to: String?)
    /// This machine is back on its own network, or on none, as before.
    case restored(String?)
    /// This machine could not be brought back; the text says why.
    case notRestored(String?, why: String)
    /// Nobody but the user can join the board's network here.
    case joinByHand(String?, hasPassword: Bool, why: String)
}
