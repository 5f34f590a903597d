// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Who signs in.
struct Newcomer {
    /// The user, where that is known before anyone is asked.
    var user: String?
    /// What the account is to be called; nil for the user's name.
    var account: String?
}

extension Context {
    /// Who signs in, and what the account is to be called.
    ///
    /// Only `--account` gives a session another name than its user's. A name from the environment or a file says which account is meant,
    /// and so who signs in where no user is given; it is no name for somebody else's session.
    ///
    /// - Parameters:
    ///   - user: as given.
    ///   - deployment: the name of the deployment or provider.
    ///   - isWanted: whether a user has to be known: not in a browser, and not for a guest.
    func newcomer(_ user: String?, at deployment: String, isWanted: Bool) throws(AccountError) -> Newcomer {
        guard user == nil, isWanted, let name = accountName else {
            return Newcomer(user: user, account: options.account)
        }
        if let known = try accounts.known.load().entry(name, at: deployment), !known.userName.isEmpty {
            return Newcomer(user: known.userName, account: known.name)
        }
        return Newcomer(user: name.isUserName ? name : nil, account: options.account)
    }
}

extension String {
    /// Whether a user of RainMaker may be called so.
    var isUserName: Bool { (try? RainMakerAccount.check(userName: self)) != nil }
}
