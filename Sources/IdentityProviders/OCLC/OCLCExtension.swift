// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// What OCLC does that its definition cannot say: requests signed with a WSKey, users named by institutions, errors that quote secrets.
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
                    "OCLC gives tokens for signed requests only with the institution that signs users in; set authenticatingInstitutionId"
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
        // Without a refresh token its end means nothing.
        if tokens.refresh == nil { tokens.refreshExpires = nil }
        // One name or the other, as services and years vary; empty words name none.
        let own = ["context_institution_id", "contextInstitutionId"].lazy.compactMap { reply.text(at: $0) }.first {
            !$0.isEmpty
        }
        if let own, let wanted = provider["contextInstitutionId"], own != wanted {
            throw AccountError(
                .wrongContext,
                message: "OCLC gave a token for institution \(presentable(own)), and \(wanted) was asked for")
        }
        // A key's own tokens name nobody, in empty words. Half of a principal, or one that would break out of a header, is none.
        for name in ["principalID", "principalIDNS"] where tokens[name]?.isEmpty == true { tokens[name] = nil }
        let (id, namespace) = (tokens["principalID"], tokens["principalIDNS"])
        if id != nil || namespace != nil, OCLCPrincipal(id: id ?? "", namespace: namespace ?? "") == nil {
            throw AccountError(
                .malformedAnswer,
                message: "OCLC named the user in a way that cannot be used (principalID, principalIDNS)")
        }
    }

    /// OCLC's errors quote the request with its secrets. They are taken out before a refusal is shown.
    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError? {
        let host = provider.resources.first?.authority ?? provider.title
        let clock = response.date.map { $0.seconds - provider.tools.clock.now.seconds }
        return OCLCReply.failure(json, status: response.status, from: host, clock: clock)
    }

    func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo? {
        guard tokens["grant"] == nil, tokens["principalID"] == nil else { return nil }
        throw AccountError(
            .malformedAnswer,
            message: "OCLC did not say who signed in (principalID); ask it about this WSKey's services")
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
