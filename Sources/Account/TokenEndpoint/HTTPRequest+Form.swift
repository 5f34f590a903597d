// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON

extension HTTPRequest {
    /// A form for an endpoint of an OAuth server, with the client's own proof (RFC 6749, 2.3.1).
    /// - Parameter inQuery: whether the server wants the parameters in the address.
    package init(
        _ form: FormRequest, to url: String, as client: ClientAuthentication, inQuery: Bool = false
    ) {
        self.init(
            method: .post, url: url, headers: Self.usualHeaders,
            maximumResponseBytes: TokenResponse.limits.maximumBytes)
        if let header = client.authorizationHeader {
            headers.append(HTTPHeader("Authorization", header.revealString()))
        }
        let body = form.body(for: client)
        if inQuery {
            // As a form, but for `+`, which not every reader takes for a space in a query.
            self.url += (url.contains("?") ? "&" : "?") + body.revealString().replacing("+", with: "%20")
        } else {
            headers.append(HTTPHeader("Content-Type", FormRequest.contentType))
            self.body = body.revealBytes()
        }
    }

    /// What every request for JSON says.
    package static let usualHeaders = [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")]
}

/// The host of an address, and its port where one is given, fit to be shown; nil for what is no address.
package func host(of url: String) -> String? {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return parts.count > 2 ? presentable(String(parts[2].prefix { $0 != "?" })) : nil
}
