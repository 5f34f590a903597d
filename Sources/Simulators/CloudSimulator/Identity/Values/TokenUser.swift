// SPDX-License-Identifier: Apache-2.0

/// The user of an access token.
struct TokenUser: Sendable, Equatable {
    /// As the system names the user to clients.
    var id: String
    var email: String
}
