// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// The requests of a description, checked and ready for their values.
struct MappingCalls: Sendable {
    struct Call: Sendable {
        var method: HTTPRequest.Method
        var url: URLTemplate
        var body: BodyTemplate?

        var placeholders: [MappingPlaceholder] { url.placeholders + (body?.placeholders ?? []) }
    }

    var signIn: Call?
    var signOut: Call?
    var add: Call
    var status: Call?
    var challenge: Call?
    var verify: Call?

    init(_ description: NodeMappingDescription) throws(MappingDescriptionProblem) {
        if let signIn = description.signIn {
            self.signIn = try Self.call(signIn.call, "signIn", knows: [.code, .userID], needs: [.code])
            try Self.check(path: signIn.token, "signIn.token")
            guard !signIn.client.isEmpty else {
                throw MappingDescriptionProblem(member: "signIn.client", sentence: "it is empty")
            }
        }
        if let signOut = description.signOut {
            guard description.signIn != nil else {
                throw MappingDescriptionProblem(member: "signOut", sentence: "it needs signIn, and signIn is missing")
            }
            self.signOut = try Self.call(signOut, "signOut", knows: [.userID], needs: [])
        }
        add = try Self.call(
            description.add.call, "add", knows: [.nodeID, .userID, .secretKey, .tags, .metadata], needs: [.nodeID])
        try Self.check(path: description.add.request, "add.request")
        if let status = description.status {
            self.status = try Self.call(status.call, "status", knows: [.requestID, .userID], needs: [.requestID])
            try Self.check(path: status.state, "status.state")
            guard !status.confirmed.isEmpty else {
                throw MappingDescriptionProblem(member: "status.confirmed", sentence: "it is empty")
            }
            var words = Set<String>()
            for word in [status.confirmed, status.requested ?? [], status.timedOut ?? [], status.discarded ?? []]
                .joined()
            where !words.insert(word).inserted {
                throw MappingDescriptionProblem(member: "status", sentence: "the word \(word) appears twice")
            }
        }
        guard (description.challenge == nil) == (description.verify == nil) else {
            let missing = description.challenge == nil ? "challenge" : "verify"
            throw MappingDescriptionProblem(
                member: missing, sentence: "it is missing: challenge and verify must both be present")
        }
        if let challenge = description.challenge, let verify = description.verify {
            self.challenge = try Self.call(challenge.call, "challenge", knows: [.userID, .lifetime], needs: [])
            try Self.check(path: challenge.request, "challenge.request")
            try Self.check(path: challenge.challenge, "challenge.challenge")
            self.verify = try Self.call(
                verify, "verify", knows: [.requestID, .nodeID, .userID, .signature, .tags, .metadata],
                needs: [.requestID, .nodeID, .signature])
        }
        guard description.signIn != nil || description.sendsProviderToken == true else {
            throw MappingDescriptionProblem(
                member: "signIn",
                sentence:
                    "it is missing. Describe how the backend takes a one-time code, or set sendsProviderToken to true if the backend may "
                    + "get the identity provider's own access token")
        }
    }

    private static func call(
        _ call: NodeMappingDescription.Call, _ member: String, knows known: Set<MappingPlaceholder>,
        needs needed: [MappingPlaceholder]
    ) throws(MappingDescriptionProblem) -> Call {
        guard let method = HTTPRequest.Method(rawValue: call.method), method != .patch else {
            throw MappingDescriptionProblem(
                member: "\(member).method", sentence: "\(call.method) is not GET, POST, PUT or DELETE")
        }
        let url = try URLTemplate(call.url, member: "\(member).url")
        var body: BodyTemplate?
        if let json = call.body {
            guard method != .get else {
                throw MappingDescriptionProblem(member: "\(member).body", sentence: "a GET has no body")
            }
            body = try BodyTemplate(json, member: "\(member).body")
        }
        let checked = Call(method: method, url: url, body: body)
        for placeholder in checked.placeholders where !known.contains(placeholder) {
            throw MappingDescriptionProblem(
                member: member, sentence: "{\(placeholder.rawValue)} is not known when this request is made")
        }
        for placeholder in needed where !checked.placeholders.contains(placeholder) {
            throw MappingDescriptionProblem(
                member: member, sentence: "{\(placeholder.rawValue)} is missing in its url and in its body")
        }
        return checked
    }

    private static func check(path: String?, _ member: String) throws(MappingDescriptionProblem) {
        guard let path else { return }
        let parts = path.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 8, parts.allSatisfy({ !$0.isEmpty }) else {
            throw MappingDescriptionProblem(member: member, sentence: "it is not a path of members such as data.id")
        }
    }
}

/// The answer of the user's own backend to a request that succeeded: a JSON object, or nothing.
struct MappingAnswer {
    static let limits = JSONLimits(maximumBytes: 64 << 10, maximumDepth: 16, maximumValues: 2000)
    /// The maximum length in bytes of an id, state or challenge.
    private static let maximumText = 4096

    private let json: JSONValue
    private let host: String

    /// The proof that the request carried. The meaning of a refusal depends on it.
    enum Proof { case providerToken, ownToken, code }

    /// - Throws: the meaning of a refusal or fault, with the backend's own message if it has one.
    init(_ response: HTTPResponse, from host: String, provedBy proof: Proof) throws(AccountError) {
        self.host = host
        if let error = AccountError(interference: response, from: host) { throw error }
        let json = try? JSONValue(parsing: response.body, limits: Self.limits)
        guard 200..<300 ~= response.status else {
            throw Self.failure(json?.members == nil ? nil : json, response, from: host, proof)
        }
        // A network's sign-in portal sends a page with status 200. It must not count as a success.
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

    /// Returns the text or number at this path of members, or nil if there is none.
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
        AccountError(
            .malformedAnswer,
            message:
                "\(host) answered without a \(path) that can be used: compare its answer with the paths in the description"
        )
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
            code, message: sentence(code, host, status, proof, response.redirectTarget(from: host)),
            serverMessage: (words ?? cause).map(presentable),
            status: status)
        error.serverCause = cause.map(presentable)
        // The backend answers with JSON or an empty body. A page comes from a server in front of it, which decides nothing about the
        // mapping.
        error.isFromGateway = code == .malformedAnswer || json == nil && !response.body.isEmpty
        return error
    }

    private static func code(_ status: Int, _ cause: String?, _ proof: Proof) -> AccountError.Code {
        // The address belongs to something else.
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
        _ code: AccountError.Code, _ host: String, _ status: Int, _ proof: Proof, _ redirect: ResponseRedirect?
    ) -> String {
        switch code {
        case .invalidGrant:
            "\(host) did not accept the one-time code (HTTP \(status)). Check in the description that signIn.url accepts codes, "
                + "and that signIn.client is the backend's own client at the identity provider"
        case .invalidConfiguration:
            "\(host) accepts no one-time code at that address (HTTP \(status)); check signIn.method and signIn.url in the description"
        case .moved where redirect?.isSameHost == true, .malformedAnswer where redirect?.isSameHost == true:
            redirect?.sentence(host: host, status: status, setting: "address in the description") ?? ""
        case .moved:
            "\(host) has moved\(redirect.map { " to \($0.address)" } ?? "") (HTTP \(status)); secrets are not sent to the new address automatically: write the new address in the description"
        case .malformedAnswer: AccountError.Code.redirectSentence(host: host, status: status, redirect)
        case .expired where proof == .ownToken:
            "\(host) does not accept the token that it has just issued; report this to its operator"
        case .expired:
            "\(host) does not accept the provider's token; sign in again, and check that \(host) trusts the provider"
        case .insufficientScope: "\(host) requires a token with a wider scope; sign in again with that scope"
        case .forbidden: "\(host) does not allow the signed-in user to add this node"
        case .timeout: "\(host) gave up waiting for the request; try again"
        case .rateLimited: "\(host) received too many requests; try again in a few minutes"
        case .serverFault: "\(host) \(serverTrouble(status)); try again later"
        default: "\(host) refused the mapping (HTTP \(status))"
        }
    }
}
