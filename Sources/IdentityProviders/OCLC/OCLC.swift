// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// OCLC's sign-in for WorldCat's services. There are two: the service of document E, whose token requests are signed with a WSKey, and its
/// current successor.
enum OCLCDefinition {
    /// `authn.sd00.worldcat.org`: tokens in a redirect's fragment for apps, HMAC for servers.
    static let text = """
        {
          "schemaVersion": 1,
          "id": "oclc",
          "title": "OCLC WorldCat",
          "environments": { "production": "https://authn.sd00.worldcat.org/oauth2" },
          "defaultEnvironment": "production",
          "modes": ["token", "code"],
          "modeGrants": { "token": "implicit", "code": "authorizationCode" },
          "resources": [
            "{base}", "{services}", "https://www.worldcat.org", "https://worldcat.org", "https://circ.sd00.worldcat.org",
            "https://{contextInstitutionId}.share.worldcat.org"
          ],
          "parameters": [
            { "name": "contextInstitutionId", "required": true,
              "description": "the institution whose data is requested" },
            { "name": "authenticatingInstitutionId",
              "description": "the institution that signs the user in; without it OCLC asks the user" },
            { "name": "services", "description": "another address whose services accept the tokens" },
            { "name": "sendPrincipal", "value": "false",
              "description": "whether requests name the user in their Authorization header, which some services require" }
          ],
          "endpoints": { "authorize": "{base}/authorizeCode", "token": "{base}/accessToken" },
          "grants": {
            "implicit": {
              "authorizeParameters": {
                "authenticatingInstitutionId": "{authenticatingInstitutionId}",
                "contextInstitutionId": "{contextInstitutionId}"
              }
            },
            "authorizationCode": {
              "pkce": "none", "clientAuthentication": "signed", "publicClient": false, "placement": "query",
              "authorizeParameters": {
                "authenticatingInstitutionId": "{authenticatingInstitutionId}",
                "contextInstitutionId": "{contextInstitutionId}"
              },
              "parameters": {
                "authenticatingInstitutionId": "{authenticatingInstitutionId}",
                "contextInstitutionId": "{contextInstitutionId}"
              },
              "publicClientRemark": "OCLC issues codes only to servers, which redeem them with the WSKey's secret. Without it, use the \
              implicit grant"
            },
            "clientCredentials": {
              "clientAuthentication": "signed", "publicClient": false, "placement": "query",
              "parameters": {
                "authenticatingInstitutionId": "{authenticatingInstitutionId}",
                "contextInstitutionId": "{contextInstitutionId}"
              }
            },
            "refreshToken": {
              "clientAuthentication": "signed", "publicClient": false, "placement": "query",
              "publicClientRemark": "OCLC renews tokens only for requests that are signed with the WSKey's secret, which belongs on a \
              server and not on a device: sign in again"
            }
          },
          "unsupported": {
            "password": "OCLC's passwords belong to libraries: users enter them at their library's own page",
            "assertion": "OCLC accepts no assertions about a user",
            "deviceCode": "OCLC has no grant for devices without a browser: paste the address instead",
            "basic": "OCLC accepts no password with each request",
            "cookie": "OCLC's web sessions are for browsers"
          },
          "scope": { "refresh": "refresh_token" },
          "redirects": [
            { "way": "scheme", "uri": "oclcApp://user_agent_flow" },
            { "way": "loopback", "path": "/callback" }
          ],
          "expiry": [
            { "field": "expires_in", "format": "seconds" }, { "field": "expires_at", "format": "date" }
          ],
          "refreshExpiry": [
            { "field": "refresh_token_expires_in", "format": "seconds" },
            { "field": "refresh_token_expires_at", "format": "date" }
          ],
          "keep": ["principalID", "principalIDNS"],
          "user": { "idFromTokens": "principalID" },
          "context": ["base", "clientID", "contextInstitutionId"],
          "links": { "help": "https://www.worldcat.org/config/" }
        }
        """

    /// `oauth.oclc.org`: plain OAuth 2.0 with the key and its secret as HTTP Basic, and the institution in a scope.
    static let current = """
        {
          "schemaVersion": 1,
          "extends": "oclc",
          "id": "oclc-oauth",
          "title": "OCLC (oauth.oclc.org)",
          "modes": null,
          "modeGrants": null,
          "environments": { "production": "https://oauth.oclc.org" },
          "endpoints": { "authorize": "{base}/auth[/{authenticatingInstitutionId}]", "token": "{base}/token" },
          "client": { "authentication": "basic" },
          "scope": { "always": ["context:{contextInstitutionId}"] },
          "redirects": null,
          "grants": {
            "implicit": null,
            "authorizationCode": {
              "pkce": null, "clientAuthentication": null, "publicClient": null, "placement": null,
              "authorizeParameters": null, "parameters": null, "publicClientRemark": null
            },
            "clientCredentials": { "clientAuthentication": null, "placement": null, "parameters": null },
            "refreshToken": {
              "clientAuthentication": null, "placement": null,
              "publicClientRemark": "OCLC renews tokens only for clients with a secret, and the WSKey's secret belongs on a server: sign \
              in again"
            }
          },
          "unsupported": {
            "implicit": "OCLC issues codes at oauth.oclc.org: use authorizationCode (the provider oclc has the implicit flow)"
          }
        }
        """
}

/// OCLC's behavior that its definition cannot express: requests signed with a WSKey, users named by institutions, errors that quote
/// secrets.
struct OCLCExtension: ProviderExtension {
    func prepare(
        _ request: inout HTTPRequest, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError) {
        let rules = provider.definition.grants?[grant.rawValue]
        guard rules?.clientAuthentication == "signed", let secret = provider.settings.clientSecret else { return }
        if rules?.parameters?["authenticatingInstitutionId"] != nil, provider["authenticatingInstitutionId"] == nil {
            throw AccountError(
                .missingParameter,
                message:
                    "a signed request for a token must name the institution that signs users in; set authenticatingInstitutionId"
            )
        }
        let signature = WSKeySignature(key: try provider.clientID(), secret: secret, hashes: provider.tools.hashes)
        var random = provider.tools.randomSource
        let stamp = WSKeySignature.Stamp(at: provider.tools.clock.now, random: &random)
        let value = signature.authorization(
            method: request.method.rawValue, query: QueryItem.items(of: request.url), stamp: stamp)
        request.headers.append(HTTPHeader("Authorization", value.revealString()))
    }

    func complete(
        _ tokens: inout Tokens, from reply: JSONValue, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError) {
        // Without a refresh token its expiry means nothing.
        if tokens.refresh == nil { tokens.refreshExpires = nil }
        // The name depends on the service and its age. An empty text does not name an institution.
        let own = ["context_institution_id", "contextInstitutionId"].lazy.compactMap { reply.text(at: $0) }.first {
            !$0.isEmpty
        }
        if let own, let wanted = provider["contextInstitutionId"], own != wanted {
            throw AccountError(
                .wrongContext,
                message: "OCLC issued a token for institution \(presentable(own)), but \(wanted) was requested")
        }
        // A key's own tokens have an empty principal. A half principal, or one that could break out of a header, is invalid.
        for name in ["principalID", "principalIDNS"] where tokens[name]?.isEmpty == true { tokens[name] = nil }
        let (id, namespace) = (tokens["principalID"], tokens["principalIDNS"])
        if id != nil || namespace != nil, OCLCPrincipal(id: id ?? "", namespace: namespace ?? "") == nil {
            throw AccountError(
                .malformedAnswer,
                message: "OCLC's answer has no usable name of the user (principalID, principalIDNS)")
        }
    }

    /// OCLC's errors quote the request with its secrets. They are removed before a refusal is shown.
    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError? {
        let host = provider.resources.first?.authority ?? provider.title
        let clock = response.date.map { $0.seconds - provider.tools.clock.now.seconds }
        return OCLCReply.failure(json, status: response.status, from: host, clock: clock)
    }

    func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo? {
        guard tokens["grant"] == nil, tokens["principalID"] == nil else { return nil }
        throw AccountError(
            .malformedAnswer,
            message: "OCLC did not name the signed-in user (principalID); ask OCLC about this WSKey's services")
    }

    func authorize(_ request: inout HTTPRequest, with tokens: Tokens, _ provider: ConfiguredProvider) -> Bool {
        guard provider["sendPrincipal"] == "true", let id = tokens["principalID"],
            let namespace = tokens["principalIDNS"],
            let principal = OCLCPrincipal(id: id, namespace: namespace)
        else { return false }
        let value = "Bearer \(tokens.access.revealString()), \(principal.headerFields)"
        request.headers.append(HTTPHeader("Authorization", value))
        return true
    }
}

/// OCLC's identity of a user: an id, and the namespace of the institution or service that assigned it.
public struct OCLCPrincipal: Sendable, Hashable {
    /// The id (`principalID`).
    public var id: String
    /// The namespace (`principalIDNS`), such as `urn:oclc:platform:128807`.
    public var namespace: String

    /// Returns nil unless both fit between the quotation marks of a header field.
    public init?(id: String, namespace: String) {
        let fits = { (text: String) in
            (1...256).contains(text.utf8.count)
                && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        }
        guard fits(id), fits(namespace) else { return nil }
        self.id = id
        self.namespace = namespace
    }

    /// The fields of an `Authorization` header.
    var headerFields: String { "principalID=\"\(id)\", principalIDNS=\"\(namespace)\"" }
}

/// Reads the refusals of OCLC's servers: RFC 6749's JSON at the current service, `{code:{type,value},message,details}` at the earlier one.
///
/// `details` quotes the whole `Authorization` header of the request with its signature. It is never kept, and neither is text in `message`
/// that looks like such a header.
enum OCLCReply {
    /// Returns the refusal in an answer; nil if there is none.
    /// - Parameter clock: how many seconds the server's clock is ahead of this machine's, if the answer had its time.
    static func failure(
        _ json: JSONValue?, status: Int, from host: String, clock: Double? = nil
    ) -> AccountError? {
        let isSuccess = 200..<300 ~= status
        guard let json, json.members != nil else {
            if isSuccess { return nil }
            return AccountError(
                status >= 500 ? .serverFault : .rejected,
                message: "\(host) answered with HTTP \(status) and no readable JSON; try again later", status: status)
        }
        if let refusal = OAuthError(json) { return standard(refusal, status: status, host: host) }
        return json["code"]?.members != nil || !isSuccess ? legacy(json, status: status, host: host, clock: clock) : nil
    }

    private static func standard(_ refusal: OAuthError, status: Int, host: String) -> AccountError {
        let code = AccountError.Code(refusal.code, status: status)
        let name = presentable(refusal.code.rawValue)
        var error = AccountError(
            code, message: code.sentence(host: host, status: status, name: name),
            serverMessage: refusal.description.map { presentable(withoutHeaders($0)) }, status: status)
        error.serverCause = name
        return error
    }

    private static func legacy(_ json: JSONValue, status: Int, host: String, clock: Double?) -> AccountError {
        let code = json["code"].flatMap { $0["value"] }.flatMap(LenientInteger.init).map { Int($0.value) } ?? status
        let words = (json["message"]?.string).map(withoutHeaders).map(presentable)
        let said = (words ?? "").lowercased()
        // If no case below knows the server's text, the message quotes it.
        let quoted = words.map { $0.isEmpty ? "" : ": \"\($0)\"" } ?? ""
        let (meaning, sentence): (AccountError.Code, String) =
            switch code {
            case 400 where said.contains("institution") && said.contains("missing"):
                (
                    .missingParameter,
                    "the request to \(host) lacks an institution; set authenticatingInstitutionId and contextInstitutionId"
                )
            case 400 where said.contains("refresh token"), 401 where said.contains("refresh token"):
                (.invalidGrant, "\(host) no longer accepts the refresh token of the session; sign in again")
            case 400 where said.contains("used before"):
                (.usedCode, "the code has been used before; begin again")
            case 400 where said.hasPrefix("the code"):
                (
                    .invalidGrant,
                    "\(host) does not accept the code: it is wrong, was used before or is too old; sign in again"
                )
            case 401 where said.contains("token"):
                (.expired, "\(host) does not accept the session's token; sign in again")
            case 400...403 where said.contains("institution"):
                (
                    .clientRefused,
                    "\(host) does not give this WSKey access to the data of this institution; "
                        + "check contextInstitutionId and authenticatingInstitutionId"
                )
            case 400...403 where said.contains("scope"):
                (
                    .invalidConfiguration,
                    "\(host) does not give this WSKey the requested scope; check the scope, and the services of the WSKey"
                )
            case 401...403 where said.contains("timestamp") || said.contains("clock"):
                (
                    .clientRefused,
                    "\(host) does not accept the time of the request\(difference(clock)); check this machine's clock"
                )
            case 401...403 where said.contains("signature"):
                (.clientRefused, "\(host) does not accept the signature of the request: the WSKey's secret is wrong")
            case 401...403 where said.contains("wskey") && (said.contains("invalid") || said.contains("unknown")):
                (.clientRefused, "\(host) does not know this WSKey; check the client id")
            case 401, 403:
                (
                    .clientRefused,
                    "\(host) does not accept this WSKey, its signature, or the requested services\(quoted)"
                )
            case 429: (.rateLimited, "\(host) received too many requests; try again in a few minutes")
            case 500...: (.serverFault, "\(host) \(serverTrouble(status)); try again later")
            default: (.rejected, "\(host) refused the request (HTTP \(status))\(quoted)")
            }
        return AccountError(meaning, message: sentence, serverCode: code, serverMessage: words, status: status)
    }

    /// Returns the clocks' difference as text, if it is more than an answer's travel time.
    private static func difference(_ clock: Double?) -> String {
        guard let clock, abs(clock) >= 60, abs(clock) < 1e12 else { return "" }
        return ": this machine's clock is \(Int(abs(clock) / 60)) min \(clock > 0 ? "behind" : "ahead of") the server's"
    }

    /// Returns a server's text up to the point where it begins to quote the request.
    static func withoutHeaders(_ words: String) -> String {
        let lower = words.lowercased()
        let marks = ["authorization", "signature=", WSKeySignature.scheme, "bearer ", "basic ", "tk_", "rt_"]
        let cut = marks.compactMap { lower.ranges(of: $0).first?.lowerBound }.map {
            lower.distance(from: lower.startIndex, to: $0)
        }.min()
        guard let cut else { return words }
        let kept = words.prefix(cut)
        return kept + "(the request, omitted)"
    }
}
