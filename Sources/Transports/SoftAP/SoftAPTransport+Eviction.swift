// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainHTTP

/// A closed connection is a handler's refusal, or the work of another client. `esp_http_server` has one socket here, and a new connection
/// pushes the old one out (`lru_purge_enable`); `protocomm_httpd.c` has one session, and a request without its cookie replaces it.
extension SoftAPTransport {
    /// What a connection that was closed without an answer means, if it was not a refusal.
    ///
    /// The board is asked for its version with the cookie that was ours: to a client whose session it no longer knows it gives a new cookie
    /// with the answer. Where the session is still ours, a connection that was reset says that the request was not read to its end. One that
    /// was closed in order may have been pushed out before its request came, by a client that had not sent its own when the board was asked:
    /// a moment later it has.
    func eviction(
        _ failure: HTTPError, _ endpoint: Endpoint, _ conversation: State.Conversation
    ) async -> TransportError? {
        // The version is never refused.
        guard endpoint != .version else {
            return conversation == .unknown ? closedUnheard : connectionTaken(endpoint)
        }
        guard case .cookie(let ours) = conversation else { return nil }
        if await isTaken(ours) {
            return error(
                .evicted, endpoint, "Another client is talking to the board, which serves one at a time.",
                reason: "session_taken")
        }
        if failure.isReset { return connectionTaken(endpoint) }
        // The time that a client takes from its connection to its request, or to come again; only a failure waits for it.
        try? await Task.sleep(for: .milliseconds(250))
        return await isTaken(ours) ? connectionTaken(endpoint) : nil
    }

    /// Whether the board has another session than that; then ours is the newest.
    private func isTaken(_ ours: SessionCookie) async -> Bool {
        let question = httpRequest(Array("---".utf8), path: names.version.description, .cookie(ours))
        let http = http
        let answer = await open.run { () async throws(HTTPError) in try await http.send(question) }
        guard case .success(let response)? = answer, let given = SessionCookie(response), given != ours else {
            return false
        }
        await remember(response, after: .cookie(ours))
        return true
    }

    /// The first connection was closed without a byte. A board does that when another client comes, so the code is the same; but nothing that
    /// a board sends has come from this address.
    private var closedUnheard: TransportError {
        error(
            .evicted, .version,
            "The server at \(peer) closed the connection without an answer; it may not be a board.",
            reason: "connection_taken")
    }

    private func connectionTaken(_ endpoint: Endpoint) -> TransportError {
        error(
            .evicted, endpoint,
            "The board dropped the connection before it had read the request, as it does when another client comes.",
            reason: "connection_taken")
    }
}
