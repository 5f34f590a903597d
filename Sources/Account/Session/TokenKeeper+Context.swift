// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore

/// A session is used with the settings that it was made with and no others: its tokens are for one address.
extension TokenKeeper {
    /// A session that was stored before all of the settings were, bound to those of now. The store learns of it once; one that cannot be
    /// changed leaves it bound in this process only.
    func bound(_ session: SavedSession) async -> SavedSession {
        guard session.bound(to: provider.context) != session, !hasBound else { return session }
        hasBound = true
        let events = events
        let context = provider.context
        do throws(AccountError) {
            return try await store.exclusively(key, within: StoreLockTimes.wait) { access async throws(AccountError) in
                let found = try own(try await access.load(), since: events.moment)
                let bound = found.bound(to: context)
                try await events.changing { () async throws(AccountError) in
                    try await access.save(bound)
                    return .wrote(bound, [])
                }
                return bound
            }
        } catch {
            logger.debug("the stored session was not bound to its address", metadata: ["cause": "\(error.code)"])
            return session
        }
    }
}

extension SavedSession {
    /// Throws `wrongContext` where it was made with another value of one of the settings.
    func check(_ settings: [String: String], at place: String) throws(AccountError) {
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard let own = context[name], own != value else { continue }
            let words = { (value: String) in value.isEmpty ? "none" : presentable(value) }
            let slash = ServerMetadata.differOnlyInSlash(own, value) ? " (only the \"/\" at the end differs)" : ""
            throw AccountError(
                .wrongContext,
                message: """
                    the session of \(place) was made with another \(name): \(words(own)), not \(words(value))\(slash); its tokens \
                    were not used. Sign in again, or set it back
                    """)
        }
    }

    /// With the settings that it does not have yet.
    func bound(to settings: [String: String]) -> SavedSession {
        var session = self
        session.context.merge(settings) { own, _ in own }
        return session
    }
}
