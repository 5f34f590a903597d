// SPDX-License-Identifier: Apache-2.0
import RainHTTP

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
        let what =
            if case .page(let title)? = response.unreadableBody {
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
