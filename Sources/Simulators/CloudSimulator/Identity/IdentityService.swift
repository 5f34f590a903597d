// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One simulated system as a value: a request in, an answer out, and what it remembers in between. No socket, no clock.
protocol IdentityService: Sendable {
    mutating func answer(_ call: inout IdentityCall) -> Response

    /// Whom that name means: an e-mail address, a screen name or a number.
    func person(named name: String) -> Person?

    /// Whose access token that is; nil for one that is not good any more or is a client's own.
    func user(ofAccessToken token: String, at now: Int64) -> TokenUser?

    /// No access token and no cookie of that person is good any more. What renews them stays.
    mutating func expire(_ person: Person, at now: Int64)

    /// Nothing that the person has signed in to is left.
    mutating func revoke(_ person: Person)

    /// What tests change about the system itself: the members of `POST /_sim/settings`.
    mutating func change(_ settings: Fields) throws(APIError)

    /// How the system words that something failed inside of it.
    func failure(status: Int) -> Response
}

extension IdentityService {
    mutating func change(_ settings: Fields) throws(APIError) {
        if settings.value.members?.isEmpty == false { throw .invalidBody }
    }
}

/// One request on its way through a simulated system.
struct IdentityCall {
    let request: Request
    /// Milliseconds since 1970, by the system's own clock.
    let now: Int64
    /// Where the system is: `http://127.0.0.1:49152`.
    let base: String
    /// What the journal says in place of the path, where that holds a secret.
    var route: String?
    /// Who was found to call. Only people and clients that the system knows get in here, and so into the journal.
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

/// Something that the journal tells beside the request. Its texts are the simulator's own words and the names of clients and
/// people it knows, so that no secret can be among them.
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
    /// Whether an authorization request protects itself.
    var isProtected: (pkce: Bool, state: Bool)?
}
