// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP

/// What a request carries to prove who asks, for another program that sends it. All values are secrets.
public struct RequestProof: Sendable {
    /// Headers, such as `Authorization` or `Cookie`.
    public var headers: [(name: String, value: Secret)]
    /// Parameters for the URL's query, percent-encoded as they are.
    public var query: [(name: String, value: Secret)]

    /// Whether a request needs nothing at all.
    public var isEmpty: Bool { headers.isEmpty && query.isEmpty }

    init(of provider: any IdentityProvider, with tokens: Tokens) {
        var request = HTTPRequest(method: .get, url: "")
        provider.authorize(&request, with: tokens)
        headers = request.headers.map { ($0.name, Secret($0.value)) }
        query = request.url.drop { $0 == "?" }.split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            return (String(name), Secret(String(pair.dropFirst(name.count + 1))))
        }
    }
}
