// SPDX-License-Identifier: Apache-2.0

/// A session with new tokens: the members of the session.
struct RenewalResult: CommandResult {
    let session: SessionResult

    func encode(to encoder: any Encoder) throws { try session.encode(to: encoder) }

    var text: String { "Renewed: the access token is good \(session.validity)." }
}
