// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import Synchronization

/// The accounts that several clients of one process share. A server needs it if it makes a client for each request.
///
/// A session stays alive between the clients. So new tokens that the store could not save are not lost with a client, and a cloud's request
/// to wait is also kept for the next one. Each client still reads the list of accounts, and each request the stored session, because other
/// processes change them.
package final class SharedAccounts: Sendable {
    /// The service that an account belongs to, as it was configured. With another configuration it is another account.
    enum Service: Equatable {
        case rainMaker(Deployment)
        case provider(String, ProviderDefinition, ProviderSettings, certificateAuthorities: String?)
    }

    private struct Entry: Sendable {
        let service: Service
        let key: CredentialKey
        let kind: StoreKind
        let account: AccountAccess
    }

    /// The accounts whose sessions end with the process.
    let inMemory = AccountsInMemory()
    /// Requests name accounts and deployments, so their number has a limit. The one that was used longest ago is forgotten.
    private static let maximum = 16
    private let entries = Mutex<[Entry]>([])

    package init() {}

    /// Returns the account of an earlier client, or the one that `make` makes.
    func account(
        at service: Service, _ kept: AccountDirectory.KeptAccount, orMake make: () throws(AccountError) -> AccountAccess
    ) throws(AccountError) -> AccountAccess {
        func known(_ entries: inout [Entry]) -> AccountAccess? {
            let index = entries.firstIndex {
                $0.key == kept.key && $0.kind == kept.kind && $0.service == service
            }
            guard let index else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.account
        }
        if let account = entries.withLock({ known(&$0) }) { return account }
        let new = Entry(service: service, key: kept.key, kind: kept.kind, account: try make())
        return entries.withLock { entries in
            if let account = known(&entries) { return account }
            if entries.count == Self.maximum { entries.removeFirst() }
            entries.append(new)
            return new.account
        }
    }
}
