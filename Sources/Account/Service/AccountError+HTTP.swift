// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON

extension AccountError {
    /// An exchange that gave no response, as the account sees it.
    package init(_ error: HTTPError) {
        switch error.code {
        case .proxy, .proxyRefused:
            self.init(
                error.code == .proxy ? .proxy : .proxyRefused,
                message: "\(error.host) cannot be reached: \(error.message)")
        case .timeout:
            self.init(
                .timeout,
                message: error.silentProxy.map {
                    "\(error.host) cannot be reached: \($0) did not answer in time; try again"
                }
                    ?? "\(error.host) did not answer in time; try again")
        case .tls:
            self.init(.tls, message: "no trusted connection to \(error.host): \(error.message)")
        case .cancelled:
            self.init(.cancelled, message: "the request to \(error.host) was cancelled")
        case .tooLarge, .malformed:
            self.init(.malformedAnswer, message: "\(error.host) did not answer as the service does: \(error.message)")
        case .invalidRequest:
            self.init(.invalidConfiguration, message: "a request to \(error.host) cannot be sent: \(error.message)")
        default:
            self.init(
                .network,
                message: "\(error.host) cannot be reached: \(error.message); check the connection and try again")
        }
    }
}

/// A server's own words, fit to be shown: one line of bounded length without control characters, which a terminal would obey.
package func presentable(_ words: String) -> String {
    let line = ShownText.plain(String(String.UnicodeScalarView(words.unicodeScalars.prefix(300))))
    let shown = String(String.UnicodeScalarView(line.unicodeScalars.prefix(300)))
    return words.unicodeScalars.count > 300 || shown != line ? shown + "…" : line
}

extension AccountError {
    /// The error of a status that only something between here and the service sends; nil for any other.
    package init?(interference response: HTTPResponse, from host: String) {
        guard let interference = response.interference else { return nil }
        self.init(interference, response.status, host)
        retryAfter = response.retryAfter
    }

    /// For an answer that should have been JSON.
    /// - Parameter reason: why it cannot be read, where that is known better.
    package static func unreadable(
        _ response: HTTPResponse, from host: String, because reason: String? = nil
    ) -> AccountError {
        let isFault = response.status >= 500 && response.interference == nil
        if !isFault, let interference = response.unreadableBody {
            return AccountError(interference, response.status, host)
        }
        if response.isPlainText {
            return AccountError(
                .malformedAnswer,
                message:
                    "\(host) answered with HTTP \(response.status) and no readable JSON, but plain text: another server answers there; "
                    + "check the base URL",
                status: response.status)
        }
        // What a fault comes with is of no use to the user.
        let what =
            if isFault {
                ": it, or a gateway before it, has a fault"
            } else if case .page(let title)? = response.unreadableBody {
                " (\(Self.page(title, response.status)))"
            } else {
                reason.map { " (\($0))" } ?? ""
            }
        return AccountError(
            isFault ? .serverFault : .malformedAnswer,
            message: "\(host) answered with HTTP \(response.status) and no readable JSON\(what); try again later",
            status: response.status)
    }

    private init(_ interference: Interference, _ status: Int, _ host: String) {
        let (code, sentence): (Code, String) =
            switch interference {
            case .portal:
                (
                    .portal,
                    "\(host) was not reached, as this network wants a sign-in first (HTTP 511); sign in to the network in a browser, then "
                        + "try again"
                )
            case .legalBlock:
                (
                    .legalBlock,
                    "\(host) is not available here for legal reasons (HTTP 451); ask its operator, or the one of this network"
                )
            case .gone:
                (
                    .moved,
                    "\(host) has nothing at this address any more (HTTP 410): the service has moved or ended; check the base URL"
                )
            case .wantsTLS:
                (
                    .invalidConfiguration,
                    "\(host) expects TLS on that port, and the request was plain HTTP (HTTP 400); write https:// in the base URL"
                )
            case .encoded(let method):
                (
                    .malformedAnswer,
                    "\(host) answered in an encoding that nobody asked for (Content-Encoding: \(presentable(method))), as a proxy on the way "
                        + "may do; try again later"
                )
            case .page(let title):
                (
                    .malformedAnswer,
                    "\(host) answered with HTTP \(status) and no readable JSON (\(Self.page(title, status))); try again later"
                )
            }
        self.init(code, message: sentence, status: status)
        isFromGateway = true
    }

    /// A page that refuses is a firewall's; one with success, a portal's.
    private static func page(_ title: String?, _ status: Int) -> String {
        let name = title.map { " \"\(presentable($0))\"," } ?? ","
        return 400..<500 ~= status
            ? "a page\(name) as firewalls and proxies send it"
            : "a web page\(name) as proxies and sign-in portals send it"
    }
}

extension HTTPClient {
    /// Sends a request for `read` to make something of the answer. What that throws says how long the server asks to be left alone, and has
    /// no secret of the request in it: some servers throw back what they were sent.
    package func send<Result>(
        _ request: HTTPRequest, _ read: (HTTPResponse) throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        let response: HTTPResponse
        do throws(HTTPError) { response = try await send(request) } catch { throw AccountError(error) }
        do throws(AccountError) {
            return try read(response)
        } catch {
            var error = error
            error.retryAfter = error.retryAfter ?? response.retryAfter
            throw error.without(RequestSecrets(request), in: response, read)
        }
    }
}

/// What a refusal says in words, not yet fit to be shown; nil where it says nothing.
///
/// Read are the envelopes of OAuth (RFC 6749, section 5.2), RainMaker and AWS, of problem details (`detail`, `title`: RFC 9457), and
/// those of FastAPI and its like, which list what is wrong with which member: `{"detail":[{"loc":["body","user_name"],"msg":"…"}]}`.
package func serverWords(_ json: JSONValue) -> String? {
    let names = ["description", "message", "error_description", "detail", "title", "error"]
    if let text = names.lazy.compactMap({ json[$0]?.string }).first(where: { !$0.isEmpty }) { return text }
    let lists = ["detail", "errors", "message"].lazy.compactMap { json[$0]?.array }
    let complaints = (lists.first ?? []).compactMap(complaint)
    return complaints.isEmpty ? nil : complaints.prefix(maximumComplaints).joined(separator: "; ")
}

/// A message has one line.
private let maximumComplaints = 3

private func complaint(_ json: JSONValue) -> String? {
    if let text = json.string { return text }
    guard let text = ["msg", "message", "detail", "description"].lazy.compactMap({ json[$0]?.string }).first else {
        return nil
    }
    let place = (json["loc"]?.array ?? []).compactMap { $0.string ?? $0.integer.map { "\($0)" } }
    return place.isEmpty ? text : "\(place.joined(separator: ".")): \(text)"
}
