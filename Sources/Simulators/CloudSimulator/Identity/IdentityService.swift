// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One simulated identity system as a value: it answers requests and keeps its own state. It has no socket and no clock.
protocol IdentityService: Sendable {
    mutating func answer(_ call: inout IdentityCall) -> Response

    /// The person of that name: an e-mail address, a screen name or a number.
    func person(named name: String) -> Person?

    /// The user of an access token; nil for a token that has expired or belongs to a client.
    func user(ofAccessToken token: String, at now: Int64) -> TokenUser?

    /// Expires all access tokens and cookies of that person. Refresh tokens stay valid.
    mutating func expire(_ person: Person, at now: Int64)

    /// Ends all sessions and revokes all tokens of that person.
    mutating func revoke(_ person: Person)

    /// Changes settings of the system for a test: the members of `POST /_sim/settings`.
    mutating func change(_ settings: Fields) throws(APIError)

    /// The system's response to an internal failure.
    func failure(status: Int) -> Response
}

extension IdentityService {
    mutating func change(_ settings: Fields) throws(APIError) {
        if settings.value.members?.isEmpty == false { throw .invalidBody }
    }
}

/// One request to a simulated identity system.
struct IdentityCall {
    let request: Request
    /// Milliseconds since 1970, by the system's own clock.
    let now: Int64
    /// Where the system is: `http://127.0.0.1:49152`.
    let base: String
    /// What the journal records in place of a path that contains a secret.
    var route: String?
    /// The authenticated caller. Only people and clients that the system knows are recorded here and in the journal.
    var person: String?
    var client: String?
    var notes: [IdentityNote] = []

    var method: String { request.method }
    var path: String { request.path }
    /// The parts of the path after the first slash.
    var parts: [String] { path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init) }

    func cookie(_ name: String) -> String? {
        for header in request.headers where header.name.lowercased() == "cookie" {
            for part in header.value.split(separator: ";") {
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if pair.count == 2, pair[0].trimmingSpaces() == name { return pair[1].trimmingSpaces() }
            }
        }
        return nil
    }

    /// The token of `Authorization: Bearer` (RFC 6750, 2.1); what stands behind a comma is not part of it.
    var bearer: String? {
        guard let header = request.header("Authorization"), header.lowercased().hasPrefix("bearer ") else { return nil }
        let token = header.dropFirst(7).prefix { $0 != "," }.trimmingSpaces()
        return token.isEmpty ? nil : token
    }

    mutating func note(_ event: IdentityNote.Event, _ outcome: String, _ more: (inout IdentityNote) -> Void = { _ in })
    {
        var note = IdentityNote(event: event, outcome: outcome, client: client, person: person)
        more(&note)
        notes.append(note)
    }
}

/// An event that the journal records beside the request. Its texts are constants of the simulator and the names of known clients and
/// people, so it cannot contain a secret.
struct IdentityNote: Sendable {
    enum Event: String { case authorize, login, token, exchange, logout, account, signature }

    var event: Event
    /// `shown`, `granted`, `denied`, `refused`, `rotated`, `reused`, ….
    var outcome: String
    var client: String?
    var person: String?
    /// The grant type, or the kind of thing.
    var kind: String?
    var reason: String?
    /// Whether an authorization request has a code challenge (RFC 7636) and a state.
    var isProtected: (pkce: Bool, state: Bool)?
}
