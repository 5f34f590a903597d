// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainJSON

/// A refusal or a fault of an OAuth server's endpoint, as it came.
package struct EndpointRefusal: Sendable {
    /// Nil for a body that is no JSON.
    package let json: JSONValue?
    /// Whether there was no body at all.
    package let isEmpty: Bool
    package let status: Int
    private let response: HTTPResponse
    package let host: String
    package let isForTokens: Bool
    /// The cause by its name, and what the server says about it.
    package let refusal: OAuthError?

    /// Nil for an answer that refuses nothing. Some servers refuse with 200.
    package init?(_ response: HTTPResponse, _ json: JSONValue?, from host: String, isForTokens: Bool) {
        refusal = json.flatMap { OAuthError($0) }
        let refusesWithSuccess = refusal != nil && json?["access_token"] == nil
        guard !(200..<300 ~= response.status) || refusesWithSuccess else { return nil }
        self.json = json
        isEmpty = response.body.isEmpty
        status = response.status
        self.response = response
        self.host = host
        self.isForTokens = isForTokens
    }

    /// The server's own words, not yet fit to be shown.
    package var words: String? {
        refusal?.description ?? json.flatMap(serverWords)
    }

    /// What the RFCs make of it.
    package var error: AccountError {
        if let error = AccountError(interference: response, from: host) { return error }
        if isForTokens, words == nil, [404, 405, 501].contains(status) {
            return AccountError(
                .invalidConfiguration,
                message:
                    "\(host) has no tokens at this address (HTTP \(status)): it is another service's, or something on the way answers in its "
                    + "place; check the provider's settings", status: status)
        }
        let named = refusal.map { AccountError.Code($0.code, status: status, isForTokens: isForTokens) }
        let code = named ?? AccountError.Code(status: status, isForTokens: isForTokens)
        guard json != nil else {
            var error = AccountError.unreadable(response, from: host)
            if error.code == .malformedAnswer, code != .rejected { error.code = code }
            return error
        }
        return error(code)
    }

    /// The same with another meaning: a provider's own rule, or its own sentence.
    package func error(
        _ code: AccountError.Code, message: String? = nil, cause: String? = nil
    ) -> AccountError {
        let name = refusal?.code.rawValue
        var error = AccountError(
            code, message: message ?? code.sentence(host: host, status: status, name: name),
            serverMessage: words.map(presentable), status: status)
        error.serverCause = (name ?? cause).map(presentable)
        return error
    }
}
