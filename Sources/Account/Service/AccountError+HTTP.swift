// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP

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
