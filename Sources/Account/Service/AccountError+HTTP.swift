// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON

extension AccountError {
    /// Converts the error of an exchange that had no response.
    /// - Parameter isChange: whether the request changes something of the user's (``HTTPRequest/isChange``).
    package init(_ error: HTTPError, isChange: Bool = false) {
        let next =
            isChange && error.wasSent
            ? "the change may have been made, so check it before you try again" : "check the connection and try again"
        switch error.code {
        case .proxy, .proxyRefused:
            self.init(
                error.code == .proxy ? .proxy : .proxyRefused,
                message: "\(error.host) cannot be reached: \(error.message)")
        case .timeout:
            let advice = isChange && error.wasSent ? next : "try again"
            let sentence: String =
                if let proxy = error.silentProxy {
                    "\(error.host) cannot be reached: \(proxy) did not answer in time; try again"
                } else if error.lacksTLS {
                    "\(error.host) accepted the connection, but did not begin TLS in time. A firewall or an overloaded server may delay "
                        + "the answer, or that port may use plain http:// or another protocol"
                } else if error.receivedBytes {
                    "the answer of \(error.host) began, but was not complete in time; \(advice)"
                } else {
                    "\(error.host) did not answer in time; \(advice)"
                }
            self.init(.timeout, message: sentence)
        case .tls:
            self.init(.tls, message: "no trusted connection to \(error.host): \(error.message)")
        case .cancelled:
            self.init(.cancelled, message: "the request to \(error.host) was cancelled")
            silentHost = error.silentProxy ?? error.host
        case .tooLarge, .malformed:
            self.init(.malformedAnswer, message: "\(error.host) sent an unusable answer: \(error.message)")
        case .invalidRequest:
            self.init(.invalidConfiguration, message: "a request to \(error.host) cannot be sent: \(error.message)")
        case .closed:
            self.init(.network, message: "no complete answer came from \(error.host): \(error.message); \(next)")
        default:
            self.init(
                .network,
                message: "\(error.host) cannot be reached: \(error.message); check the connection and try again")
        }
    }
}

/// Returns a server's text in a form that is safe to show: one line of bounded length, without control characters that a terminal would
/// obey. For a language model it is shorter (``ForeignText``).
package func presentable(_ words: String) -> String {
    if let limit = ForeignText.limit { return ForeignText.cleaned(words, maximumLength: limit) }
    let line = ShownText.plain(String(String.UnicodeScalarView(words.unicodeScalars.prefix(300))))
    let shown = String(String.UnicodeScalarView(line.unicodeScalars.prefix(300)))
    return words.unicodeScalars.count > 300 || shown != line ? shown + "…" : line
}

/// What a status from 500 on says of a server: the end of the sentence "HOST …".
package func serverTrouble(_ status: Int) -> String {
    [503, 504].contains(status)
        ? "is not available at the moment (HTTP \(status))" : "has an internal fault (HTTP \(status))"
}

extension AccountError {
    /// Creates the error for a status that only a device between this machine and the service sends. Returns nil for any other status.
    package init?(interference response: HTTPResponse, from host: String) {
        guard let interference = response.interference else { return nil }
        self.init(interference, response.status, host)
        retryAfter = response.retryAfter
    }

    /// Returns the error for an answer that is not readable JSON.
    /// - Parameter reason: a more exact reason why it cannot be read, if known.
    package static func unreadable(
        _ response: HTTPResponse, from host: String, because reason: String? = nil
    ) -> AccountError {
        // A server that does not know the method (501) or the version (505) is another one, not one with a fault.
        let isFault = response.status >= 500 && ![501, 505].contains(response.status) && response.interference == nil
        if let refusal = AccountError(plainRefusal: response, from: host) { return refusal }
        if let target = response.redirectTarget(from: host) { return redirect(response.status, from: host, to: target) }
        if !isFault, let interference = response.unreadableBody {
            return AccountError(interference, response.status, host)
        }
        if response.isPlainText {
            return AccountError(
                .malformedAnswer,
                message:
                    "\(host) answered with plain text instead of JSON (HTTP \(response.status)): another server may use this address; "
                    + "check the base URL",
                status: response.status)
        }
        // The body of such an answer does not help the user.
        let what =
            if isFault {
                ": this server, or a gateway in front of it, has a fault"
            } else {
                reason.map { " (\($0))" } ?? ""
            }
        let answer =
            response.body.isEmpty && !isFault
            ? "sent an empty answer (HTTP \(response.status))"
            : "answered with HTTP \(response.status) and no readable JSON\(what)"
        return AccountError(
            isFault ? .serverFault : .malformedAnswer,
            message: "\(host) \(answer); \(isFault ? "" : "check the base URL, or ")try again later",
            status: response.status)
    }

    /// Returns the error for a redirect. A service for programs sends none, so a server in front of it probably answered.
    package static func redirect(_ status: Int, from host: String, to target: ResponseRedirect?) -> AccountError {
        let code = Code(status: status, isForTokens: false)
        var error = AccountError(
            code, message: code.sentence(host: host, status: status, name: nil, redirect: target), status: status)
        error.isFromGateway = true
        return error
    }

    /// Creates the error for a refusal whose status and headers name the cause. Returns nil if the body may say more.
    private init?(plainRefusal response: HTTPResponse, from host: String) {
        let status = response.status
        guard 400..<500 ~= status, status != 410, response.interference == nil else { return nil }
        var code = Code.malformedAnswer
        let sentence: String
        if let challenge = AuthenticationChallenge(response, host: host), challenge.wantsPassword {
            sentence =
                "\(challenge.asker) asks for its own name and password (HTTP \(status)); "
                + (challenge.isProxy
                    ? "write them into the proxy's address" : "check the base URL, or ask the operator of \(host)")
        } else if status == 429 {
            code = .rateLimited
            sentence = code.sentence(host: host, status: status, name: nil)
        } else if status == 426 {
            sentence = "\(host) requires another protocol (HTTP 426), perhaps https://; check the base URL"
        } else if response.body.isEmpty {
            sentence =
                [404, 405].contains(status)
                ? "\(host) has nothing at this address (HTTP \(status)); check the base URL"
                : "\(host), or a gateway before it, refused the request (HTTP \(status)); check the base URL, or try again later"
        } else {
            return nil
        }
        self.init(code, message: sentence, status: status)
        isFromGateway = true
        retryAfter = response.retryAfter
    }

    private init(_ interference: Interference, _ status: Int, _ host: String) {
        let (code, sentence): (Code, String) =
            switch interference {
            case .portal:
                (
                    .portal,
                    "\(host) was not reached, because this network requires a sign-in first (HTTP 511); sign in to the network in a "
                        + "browser, then try again"
                )
            case .legalBlock:
                (
                    .legalBlock,
                    "\(host) is not available here for legal reasons (HTTP 451); ask its operator, or the operator of this network"
                )
            case .gone:
                (
                    .moved,
                    "\(host) no longer offers a service at this address (HTTP 410): the service has moved or ended; check the base URL"
                )
            case .wantsTLS:
                (
                    .invalidConfiguration,
                    "\(host) expects TLS on that port, but the request was plain HTTP (HTTP 400); write https:// in the base URL"
                )
            case .encoded(let method):
                (
                    .malformedAnswer,
                    "\(host) answered in an encoding that was not requested (Content-Encoding: \(presentable(method))). A proxy on the way "
                        + "may have changed it; try again later"
                )
            case .page(let title):
                (.malformedAnswer, "\(host) answered with \(Self.page(title, status))")
            }
        self.init(code, message: sentence, status: status)
        isFromGateway = true
    }

    /// The end of the sentence "HOST answered with …". It names the likely sender of a page: a web server if the address does not exist, a
    /// firewall for another refusal. After success it is a portal or a web site.
    private static func page(_ title: String?, _ status: Int) -> String {
        let page = "a web page\(title.map { " \"\(presentable($0))\"" } ?? "") instead of JSON (HTTP \(status))"
        return switch status {
        case 404, 405: "\(page): a web server has nothing at this address; check the base URL"
        case 400..<500:
            "\(page), which a firewall or proxy probably sent; try another network, or try again later"
        default:
            "\(page): this network's sign-in page or a proxy may have answered, or the base URL may belong to a web site. Sign in to the "
                + "network, check the base URL, then try again"
        }
    }
}

extension HTTPClient {
    /// Sends a request, and returns the result of `read` for the answer. Its errors have the time that the server asks to wait. They
    /// contain no secret of the request, because some servers repeat what they received.
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

/// Returns the text of a refusal, which may not be safe to show yet; nil if it has none.
///
/// It reads the envelopes of OAuth (RFC 6749, section 5.2), RainMaker, AWS and problem details (`detail`, `title`: RFC 9457). It also reads
/// those of FastAPI and similar frameworks, which list the problems of members: `{"detail":[{"loc":["body","user_name"],"msg":"…"}]}`.
package func serverWords(_ json: JSONValue) -> String? {
    let names = ["description", "message", "error_description", "detail", "title", "error"]
    if let text = names.lazy.compactMap({ json[$0]?.string }).first(where: { !$0.isEmpty }) { return text }
    let lists = ["detail", "errors", "message"].lazy.compactMap { json[$0]?.array }
    let complaints = (lists.first ?? []).compactMap(complaint)
    return complaints.isEmpty ? nil : complaints.prefix(maximumComplaints).joined(separator: "; ")
}

/// The limit keeps a message on one line.
private let maximumComplaints = 3

private func complaint(_ json: JSONValue) -> String? {
    if let text = json.string { return text }
    guard let text = ["msg", "message", "detail", "description"].lazy.compactMap({ json[$0]?.string }).first else {
        return nil
    }
    let place = (json["loc"]?.array ?? []).compactMap { $0.string ?? $0.integer.map { "\($0)" } }
    return place.isEmpty ? text : "\(place.joined(separator: ".")): \(text)"
}
