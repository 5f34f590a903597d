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

    /// - Parameter urls: where the requests go. A header that is for some of these hosts only is left out.
    init(of provider: any IdentityProvider, with tokens: Tokens, for urls: [String]) {
        let places = (urls.isEmpty ? [""] : urls).map { String($0.prefix { $0 != "?" && $0 != "#" }) }
        let requests = places.map { place in
            var request = HTTPRequest(method: .get, url: place)
            provider.authorize(&request, with: tokens)
            return request
        }
        headers = requests[0].headers
            .filter { header in requests.allSatisfy { $0.headers.contains(header) } }
            .map { ($0.name, Secret($0.value)) }
        query = requests[0].url.dropFirst(places[0].count).drop { $0 == "?" }.split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            return (String(name), Secret(String(pair.dropFirst(name.count + 1))))
        }
    }
}
