// SPDX-License-Identifier: Apache-2.0
import RainKit

extension NewAccountStore {
    /// The kind of store that the session is in.
    var storeName: String { (account?.kind ?? kind).rawValue }

    /// What the account is called there.
    var accountName: String? { account?.key.account }

    /// What a person should know who might expect to stay signed in.
    var remark: String { account?.kind == .memory ? " The session was not kept." : "" }
}
