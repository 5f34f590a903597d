// SPDX-License-Identifier: Apache-2.0
import RainCore

extension TokenKeeper {
    /// A renewal that the store did not take: the provider may have forgotten the stored tokens by now.
    struct Unsaved: Sendable {
        var stored: SavedSession
        var renewed: SavedSession
        /// The store never takes anything.
        var staysUnsaved: Bool

        /// What came of that session, if it is the one.
        func newer(than session: SavedSession) -> SavedSession? {
            stored.tokens == session.tokens ? renewed : nil
        }
    }

    /// Until when the provider asked to be left alone, and with what.
    struct Pause: Sendable {
        var from: UnixTime
        var until: UnixTime
        var reason: AccountError
    }
}
