// SPDX-License-Identifier: Apache-2.0
import RainKit
import Synchronization

/// Notes whose answer was not waited for any longer, so that the end of a command's time names who was silent.
struct NotedHTTPClient: HTTPClient {
    private let client: any HTTPClient
    private static let silent = Mutex<String?>(nil)

    init(_ client: any HTTPClient) { self.client = client }

    /// What did not answer the request that was given up last: `host`, `host:port`, or the proxy before it.
    static var givenUp: String? { silent.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        do throws(HTTPError) {
            return try await client.send(request)
        } catch {
            if error.code == .cancelled {
                Self.silent.withLock { $0 = error.silentProxy ?? error.host }
            }
            throw error
        }
    }

    func close(kept name: String) async { await client.close(kept: name) }

    /// The tools of every client that rainctl makes.
    static var tools: RainKitTools {
        RainKitTools(http: { NotedHTTPClient(CurlHTTPClient(CurlConfiguration(certificateAuthorities: $0))) })
    }
}
