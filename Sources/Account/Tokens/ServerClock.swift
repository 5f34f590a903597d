// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import Synchronization

/// How far the server's clock is ahead of this machine's, by the `Date` of its answers.
///
/// Tokens expire by the server's clock. One that says when it was issued tells all that is needed; for one that does not, the clock
/// here may be wrong by any amount, and this says by how much.
///
/// ```swift
/// let server = ServerClock()
/// let provider = MyProvider(http: server.listening(to: client))
/// let session = AccountSession(provider: provider, http: client, store: store, key: key, server: server)
/// ```
public final class ServerClock: Sendable {
    private let clock: any WallClock
    private let heard = Mutex<Double?>(nil)

    public init(clock: any WallClock = SystemWallClock()) { self.clock = clock }

    /// In seconds, to the second; nil until an answer told. The last one counts.
    public var secondsAhead: Double? { heard.withLock { $0 } }

    /// The same client, to whose answers this clock listens.
    public func listening(to http: any HTTPClient) -> any HTTPClient { ListeningClient(http: http, server: self) }

    fileprivate func hear(_ response: HTTPResponse) {
        guard let date = response.date else { return }
        let ahead = date.seconds - clock.now.seconds
        heard.withLock { $0 = ahead }
    }
}

private struct ListeningClient: HTTPClient {
    let http: any HTTPClient
    let server: ServerClock

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let response = try await http.send(request)
        server.hear(response)
        return response
    }

    func close(kept name: String) async { await http.close(kept: name) }
}
