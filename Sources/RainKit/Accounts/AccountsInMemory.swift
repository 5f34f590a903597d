// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import Synchronization

/// The accounts whose sessions are kept in memory, for all clients of one process. They are beside the list on disk and never in it.
///
/// Such an account is in use from its sign-in on, because its user asked for it in this process. It stays in use until it signs out, until
/// another account signs in here, or until the user chooses another account, in this process or another.
package final class AccountsInMemory: Sendable {
    let store = InMemoryCredentialStore()

    private struct State {
        var entries: [KnownAccounts.Entry] = []
        var inUse: [String: InUse] = [:]
        var settings: [String: RememberedProviders.Settings] = [:]
    }

    private struct InUse {
        var name: String
        /// What the list on disk said when this account came into use.
        var choiceOnDisk: KnownAccounts.Content.Choice?
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns the list on disk with these accounts, which precede accounts of the same names.
    func added(to list: KnownAccounts.Content) -> KnownAccounts.Content {
        state.withLock { state in
            var list = list
            for entry in state.entries {
                list.entries.removeAll { $0.isSameAccount(as: entry) }
                list.entries.append(entry)
            }
            for (deployment, account) in state.inUse {
                if let choice = list.chosen[deployment], choice.isExplicit, choice != account.choiceOnDisk {
                    // The user has chosen another account since.
                    state.inUse[deployment] = nil
                } else {
                    list.chosen[deployment] = KnownAccounts.Content.Choice(name: account.name)
                }
            }
            return list
        }
    }

    /// Adds an account that has signed in, and makes it the one in use.
    func add(_ entry: KnownAccounts.Entry, besides list: KnownAccounts.Content) {
        state.withLock { state in
            state.entries.removeAll { $0.isSameAccount(as: entry) }
            state.entries.append(entry)
            state.inUse[entry.deployment] = InUse(
                name: entry.name, choiceOnDisk: list.chosen[entry.deployment])
        }
    }

    /// Makes an account the one in use. Returns false if it is not one of these.
    func use(_ name: String, at deployment: String, besides list: KnownAccounts.Content) -> Bool {
        state.withLock { state in
            guard state.entries.contains(where: { $0.deployment == deployment && $0.name == name }) else {
                state.inUse[deployment] = nil
                return false
            }
            state.inUse[deployment] = InUse(name: name, choiceOnDisk: list.chosen[deployment])
            return true
        }
    }

    /// Removes an account that has signed out, or that has signed in with another store.
    func remove(_ name: String, at deployment: String) {
        state.withLock { state in
            state.entries.removeAll { $0.deployment == deployment && $0.name == name }
            if state.inUse[deployment]?.name == name { state.inUse[deployment] = nil }
        }
    }

    /// Records that an account has signed in whose session is not in memory.
    func hasSignedIn(_ entry: KnownAccounts.Entry) {
        remove(entry.name, at: entry.deployment)
        state.withLock { state in
            state.inUse[entry.deployment] = nil
            state.settings[entry.deployment] = nil
        }
    }

    /// The settings of an identity provider, from a sign-in whose session is in memory; nil if there was none.
    func settings(of provider: String) -> RememberedProviders.Settings? { state.withLock { $0.settings[provider] } }

    func remember(_ settings: RememberedProviders.Settings, as name: String) {
        state.withLock { $0.settings[name] = settings }
    }
}

extension KnownAccounts.Entry {
    fileprivate func isSameAccount(as other: Self) -> Bool { deployment == other.deployment && name == other.name }
}
