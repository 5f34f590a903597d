// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// What one's own backend answered to a request that succeeded: a JSON object, or nothing.
struct MappingAnswer {
    static let limits = JSONLimits(maximumBytes: 64 << 10, maximumDepth: 16, maximumValues: 2000)
    /// The longest id, state or challenge that is taken.
    private static let maximumText = 4096

    private let json: JSONValue
    private let host: String

    /// What the request proved itself with, which decides what a refusal means.
    enum Proof { case providerToken, ownToken, code }

    /// - Throws: what a refusal or a fault means, in the backend's own words where it has any.
    init(_ response: HTTPResponse, from host: String, provedBy proof: Proof) throws(AccountError) {
        self.host = host
        if let error = AccountError(interference: response, from: host) { throw error }
        let json = try? JSONValue(parsing: response.body, limits: Self.limits)
        guard 200..<300 ~= response.status else {
            throw Self.failure(json?.members == nil ? nil : json, response, from: host, proof)
        }
        // A page with status 200 is what a network's sign-in portal sends. It must not pass for a yes.
        guard response.body.isEmpty || json?.members != nil else {
            if json == nil { throw .unreadable(response, from: host) }
            throw AccountError(
                .malformedAnswer,
                message:
                    "\(host) answered with HTTP \(response.status) and something that is not a JSON object; try again later",
                status: response.status)
        }
        self.json = json ?? .null
    }

    /// The text or number at that path of members; nil where there is none.
    func text(at path: String) throws(AccountError) -> String? {
        var value: JSONValue? = json
        for name in path.split(separator: ".") { value = value?[String(name)]?.unlessNull }
        let text: String
        switch value {
        case .string(let own)?: text = own
        case .integer(let number)?: text = "\(number)"
        case .longNumber(let number)?: text = number.text
        case .bool(let flag)?: text = flag ? "true" : "false"
        case nil: return nil
        default: throw incomplete(path)
        }
        guard (1...Self.maximumText).contains(text.utf8.count) else { throw incomplete(path) }
        return text
    }

    func incomplete(_ path: String) -> AccountError {
        AccountError(.malformedAnswer, message: "\(host) answered without a \(path) that can be used")
    }

    // MARK: Refusals and faults

    private static func failure(
        _ json: JSONValue?, _ response: HTTPResponse, from host: String, _ proof: Proof
    ) -> AccountError {
        let status = response.status
        let cause = json?["error"]?.string
        let words = json.flatMap(serverWords)
        let code = code(status, cause, proof)
        var error = AccountError(
            code, message: sentence(code, host, status, proof), serverMessage: (words ?? cause).map(presentable),
            status: status)
        error.serverCause = cause.map(presentable)
        // The backend speaks JSON or says nothing. A page was written by something before it, which decides nothing about the mapping.
        error.isFromGateway = code == .malformedAnswer || json == nil && !response.body.isEmpty
        return error
    }

    private static func code(_ status: Int, _ cause: String?, _ proof: Proof) -> AccountError.Code {
        // Something else is at the address.
        if proof == .code, [404, 405, 410].contains(status) { return .invalidConfiguration }
        return switch status {
        case 302, 303, 307: .malformedAnswer
        case 300..<400: .moved
        case 408: .timeout
        case 429: .rateLimited
        case 400..<500 where proof == .code: .invalidGrant
        case 401: .expired
        // RFC 6750, 3.1.
        case 403: cause == "insufficient_scope" ? .insufficientScope : .forbidden
        case 500...: .serverFault
        default: .mappingRefused
        }
    }

    private static func sentence(
        _ code: AccountError.Code, _ host: String, _ status: Int, _ proof: Proof
    ) -> String {
        switch code {
        case .invalidGrant:
            "\(host) did not accept the one-time code (HTTP \(status)); check in the description that signIn.url is where it takes codes, "
                + "and that signIn.client is its own client at the identity provider"
        case .invalidConfiguration:
            "\(host) takes no one-time code at that address (HTTP \(status)); check signIn.method and signIn.url in the description"
        case .moved:
            "\(host) has moved (HTTP \(status)); nothing secret is sent to the new address by itself: write the new address in the description"
        case .malformedAnswer: AccountError.Code.redirectSentence(host: host, status: status)
        case .expired where proof == .ownToken:
            "\(host) does not accept the token that it has just issued; report this to its operator"
        case .expired:
            "\(host) does not accept the provider's token; sign in again, and see that \(host) trusts the provider"
        case .insufficientScope: "\(host) wants a token with more scope; sign in again with it"
        case .forbidden: "\(host) does not let the signed-in user have the node"
        case .timeout: "\(host) gave up waiting for the request; try again"
        case .rateLimited: "\(host) asks to slow down; try again in some minutes"
        case .serverFault: "\(host) has a fault of its own (HTTP \(status)); try again later"
        default: "\(host) refused the mapping (HTTP \(status))"
        }
    }
}
