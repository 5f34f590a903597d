// SPDX-License-Identifier: Apache-2.0

/// Whom an access token belongs to.
struct TokenUser: Sendable, Equatable {
    /// As the system names the user to clients.
    var id: String
    var email: String
}
