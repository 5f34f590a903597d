// SPDX-License-Identifier: Apache-2.0

/// Where an account's session is kept. The choice is remembered for each account.
public enum StoreKind: String, Sendable, CaseIterable, Codable {
    /// The desktop's store of secrets, unlocked with the person's login.
    case secretService = "secret-service"
    /// A file that only the user can read.
    case file
    /// Nowhere: it ends with the process.
    case memory
    /// A credential that systemd hands to a service; nothing can be saved there.
    case systemd
}

/// What was asked for.
public enum StoreChoice: Sendable, Equatable {
    /// What is remembered for the account; otherwise the Secret Service where it answers, and a file where it does not.
    case automatic
    /// This one and no other; a store that cannot be used now is an error.
    case kind(StoreKind)
}
