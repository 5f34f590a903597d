// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// OCLC's two authorization servers: the legacy one, with institutions and signed requests, and the current one.
struct OCLCService: IdentityService {
    /// Twenty minutes less one second, as OCLC's sample application received it.
    private static let accessLifetime: Int64 = 1199
    private static let refreshLifetime: Int64 = 604_799
    private static let institutions = ["128807": "OCLC WorldShare Sandbox Institution", "91475": "Another Library"]
    private static let serviceScopes: Set<String> = ["WMS_NCIP", "WorldCatMetadataAPI"]

    /// The secret of the key. It signs requests; a client without it cannot renew.
    static let key = "wskey-1"
    static let secret = "wskey-1-secret"
    /// The institutions whose data the key may read.
    private static let contexts: Set<String> = [ownContext]
    /// The institution of a request to the current service that names none. Keys of one institution may leave it out.
    private static let ownContext = "128807"

    private var people = People.known
    private var oauth: StandardOAuth
    /// Nonces of signed requests; each is accepted once.
    var nonces = ExpiringTable<Bool>(maximum: 5000)

    /// Whether errors are in the fragment of the redirect, like tokens.
    private var putsErrorsInFragment = false
    /// Whether numbers are text, and names in camel case, as on the other server.
    private var usesOtherSpelling = false
    /// Whether the key's name alone is enough to renew a refresh token.
    private var allowsMobileRefresh = false
    /// Whether resources require the principal in addition to the token.
    private var requiresPrincipal = false

    init() {
        let redirects = ["oclcApp://user_agent_flow", "oclcapp://user_agent_flow", "http://127.0.0.1/callback"]
        let registration = OAuthClient(
            id: Self.key, secret: Self.secret, redirects: redirects.compactMap { RegisteredRedirect($0) })
        let client = StandardOAuth.Client(
            registration: registration, name: "Library app",
            grants: ["authorization_code", "implicit", "refresh_token", "client_credentials"],
            scopes: Self.serviceScopes.union(["refresh_token"]).union(Self.institutions.keys.map { "context:\($0)" }))
        var rules = StandardOAuth.Rules(
            accessLifetime: Self.accessLifetime, refreshLifetime: Self.refreshLifetime,
            responseTypes: ["code", "token"], refreshScope: "refresh_token", rotates: false)
        rules.accessToken = { _, _ in "tk_" + alphanumericToken(36) }
        rules.refreshToken = { "rt_" + alphanumericToken(36) }
        rules.code = { "auth_" + alphanumericToken(36) }
        oauth = StandardOAuth(clients: [client], rules: rules)
    }

    // MARK: Routing

    mutating func answer(_ call: inout IdentityCall) -> Response {
        let parts = call.parts
        switch (call.method, parts.first, parts.count) {
        case ("GET", "oauth2", 2) where parts[1] == "authorizeCode",
            ("POST", "oauth2", 2) where parts[1] == "authorizeCode":
            return authorize(&call, isLegacy: true, institution: call.request.query("authenticatingInstitutionId"))
        case ("POST", "oauth2", 2) where parts[1] == "accessToken": return legacyToken(&call)
        case ("GET", "auth", 1), ("POST", "auth", 1): return authorize(&call, isLegacy: false, institution: nil)
        case ("GET", "auth", 2), ("POST", "auth", 2):
            return authorize(&call, isLegacy: false, institution: percentDecoded(Substring(parts[1])))
        case ("POST", "token", 1): return currentToken(&call)
        case (_, "bib", _), (_, "ncip", _), (_, "worldcat", _): return resource(parts, &call)
        default: return OCLCFailure(404, "There is no such resource").response(call)
        }
    }

    /// Returns a person's principal id and the namespace of that id.
    private static func principal(of person: Person) -> (id: String, namespace: String) {
        ("p-\(person.screenName)", "urn:oclc:platform:\(institution(of: person))")
    }

    private static func institution(of person: Person) -> String { person.screenName == "bob" ? "91475" : "128807" }

    // MARK: Requests of tests

    func person(named name: String) -> Person? { people.named(name) }

    func user(ofAccessToken token: String, at now: Int64) -> TokenUser? {
        guard let person = oauth.accessTokens.value(token, at: now)?.person.flatMap({ people[$0] }) else { return nil }
        return TokenUser(id: Self.principal(of: person).id, email: person.email)
    }

    mutating func expire(_ person: Person, at now: Int64) { oauth.expire(person, at: now) }
    mutating func revoke(_ person: Person) { oauth.revoke(person) }

    mutating func change(_ settings: Fields) throws(APIError) {
        for member in settings.value.members ?? [] {
            switch member.name {
            case "errors_in_fragment": putsErrorsInFragment = try settings.bool(member.name) ?? false
            case "other_spelling": usesOtherSpelling = try settings.bool(member.name) ?? false
            case "mobile_refresh": allowsMobileRefresh = try settings.bool(member.name) ?? false
            case "requires_principal": requiresPrincipal = try settings.bool(member.name) ?? false
            default: throw .invalidBody
            }
        }
    }

    func failure(status: Int) -> Response { OCLCFailure(status, reasonPhrase(status)).body(details: "") }
}

/// `{"code":{"type":"http","value":"401"},"message","details"}`.
struct OCLCFailure: Error, Equatable {
    fileprivate var status: Int
    var message: String

    init(_ status: Int, _ message: String) { (self.status, self.message) = (status, message) }

    fileprivate init(_ failure: OAuthFailure) {
        self.init(failure.code == .invalidClient || failure.code == .invalidToken ? 401 : 400, failure.description)
    }

    /// The details repeat the whole `Authorization` header, as OCLC's do. A program that logs them logs a signature or a token.
    fileprivate func response(_ call: IdentityCall) -> Response {
        let header =
            call.request.header("Authorization").map { "Authorization header: \($0)" } ?? "No Authorization header"
        return body(details: header)
    }

    fileprivate func body(details: String) -> Response {
        Response(
            status: status,
            content: .json([
                "code": ["type": "http", "value": .string("\(status)")], "message": .string(message),
                "details": .string(details),
            ]), headers: OAuthFailure.uncached)
    }
}

/// The sign-in page of an institution, and the person's consent to the application.
extension OCLCService {
    /// Serves `/oauth2/authorizeCode` with institutions as parameters, and `/auth` with one in the path and the other in the scope.
    private mutating func authorize(_ call: inout IdentityCall, isLegacy: Bool, institution: String?) -> Response {
        guard let institution else { return whereAreYouFrom(call, isLegacy: isLegacy) }
        let people = people
        let title = Self.institutions[institution] ?? "OCLC"
        var front = StandardOAuth.Front(title: title) { name, password throws(OAuthFailure) in
            guard let person = people.named(name), person.accepts(password: password),
                Self.institution(of: person) == institution
            else { throw OAuthFailure(.accessDenied, "The user name or the password is wrong at this institution") }
            guard person.isVerified else { throw OAuthFailure(.accessDenied, "The account is not verified") }
            return person
        }
        front.userLabel = "User name"
        front.failure = { failure in
            failure.parameters + [.init("http_code", failure.code == .accessDenied ? "403" : "400")]
        }
        front.putsErrorsInFragment = putsErrorsInFragment
        front.attributes = { parameters throws(OAuthFailure) in
            guard Self.institutions[institution] != nil else {
                throw OAuthFailure(.invalidRequest, "The authenticating institution is not known")
            }
            guard let scope = parameters["scope"] else { throw OAuthFailure(.invalidScope, "scope is missing") }
            let words = scope.split(separator: " ").map(String.init)
            let named = isLegacy ? parameters["contextInstitutionId"] : Self.context(in: words) ?? Self.ownContext
            guard let context = named else { throw OAuthFailure(.invalidRequest, "The context institution is missing") }
            try Self.check(context: context)
            guard words.contains(where: Self.serviceScopes.contains) else {
                throw OAuthFailure(.invalidScope, "No service is asked for")
            }
            return ["authenticating": institution, "context": context]
        }
        front.fragment = { issued, now in Self.fragment(issued, people, at: now) }
        return oauth.page(&call, front).0
    }

    private static func check(context: String?) throws(OAuthFailure) {
        guard context.map({ contexts.contains($0) }) != false else {
            throw OAuthFailure(.unauthorizedClient, "WSKey '\(key)' may not ask for the data of this institution")
        }
    }

    /// Returns the institution of a scope such as `context:128807`.
    private static func context(in words: [String]) -> String? {
        words.first { $0.hasPrefix("context:") }.map { String($0.dropFirst(8)) }
    }

    /// Asks for the institution, if the request does not name it.
    private func whereAreYouFrom(_ call: IdentityCall, isLegacy: Bool) -> Response {
        let query = formEncoded(call.request.query)
        let links = Self.institutions.sorted { $0.key < $1.key }.map { id, name in
            let target = isLegacy ? "?\(query)&authenticatingInstitutionId=\(id)" : "/auth/\(id)?\(query)"
            let address = IdentityPage.escaped(target)
            return "<li><a id=\"institution-\(id)\" href=\"\(address)\">\(IdentityPage.escaped(name))</a></li>"
        }
        return IdentityPage.page(
            status: 200, title: "Where are you from?",
            "<ul id=\"institutions\">\n\(links.joined(separator: "\n"))\n</ul>")
    }

    /// Returns the fragment of the redirect. In its date the space is percent-encoded and the colons are not, as in OCLC's documents.
    private static func fragment(_ issued: StandardOAuth.Issued, _ people: People, at now: Int64) -> String {
        var fields: [(String, String)] = [
            ("access_token", issued.access), ("context_institution_id", issued.grant.attributes["context"] ?? ""),
            ("expires_at", utcDate(now / 1000 + accessLifetime)), ("expires_in", "\(accessLifetime)"),
        ]
        if let person = issued.grant.person.flatMap({ people[$0] }) {
            let principal = principal(of: person)
            fields += [("principalID", principal.id), ("principalIDNS", principal.namespace)]
        }
        if let refresh = issued.refresh {
            fields += [
                ("refresh_token", refresh), ("refresh_token_expires_at", utcDate(now / 1000 + refreshLifetime)),
                ("refresh_token_expires_in", "\(refreshLifetime)"),
            ]
        }
        fields.append(("token_type", "bearer"))
        return fields.map { "\($0)=\(PercentEncoding.encoded($1).replacing("%3A", with: ":"))" }.joined(separator: "&")
    }
}

/// `/oauth2/accessToken`, whose parameters are in the query of signed requests, and `/token`, which follows the RFCs.
extension OCLCService {
    private mutating func legacyToken(_ call: inout IdentityCall) -> Response {
        do throws(OCLCFailure) {
            let query: OAuthParameters
            do throws(OAuthFailure) {
                query = try OAuthParameters(call.request.query)
            } catch {
                throw OCLCFailure(error)
            }
            let type = query["grant_type"] ?? ""
            do throws(OCLCFailure) {
                let response = try legacyToken(type, query, &call)
                call.note(.token, "granted") { $0.kind = type }
                return response
            } catch {
                let known = ["authorization_code", "client_credentials", "refresh_token"].contains(type)
                call.note(.token, "refused") {
                    ($0.kind, $0.reason) = (known ? type : "unknown", "\(error.status)")
                }
                throw error
            }
        } catch {
            return error.response(call)
        }
    }

    private mutating func legacyToken(
        _ type: String, _ query: OAuthParameters, _ call: inout IdentityCall
    ) throws(OCLCFailure) -> Response {
        if type == "refresh_token", allowsMobileRefresh, call.request.header("Authorization") == nil,
            query["client_id"] == Self.key
        {
            call.client = Self.key
        } else {
            guard call.request.header("Authorization") != nil else {
                throw OCLCFailure(401, "The request is not signed: a WSKey with its secret must sign it")
            }
            _ = try signer(&call)
        }
        do throws(OAuthFailure) {
            guard let client = oauth.client(Self.key) else { throw OAuthFailure(.invalidClient, "The WSKey is gone") }
            let issued: StandardOAuth.Issued
            switch type {
            case "authorization_code":
                let grant = try oauth.redeem(query, client, at: call.now)
                let isSame =
                    query["authenticatingInstitutionId"] == grant.attributes["authenticating"]
                    && query["contextInstitutionId"] == grant.attributes["context"]
                guard isSame else {
                    throw OAuthFailure(.invalidGrant, "The institutions are not those that the code was issued for")
                }
                issued = oauth.issue(grant, at: call.now)
            case "client_credentials":
                guard let authenticating = query["authenticatingInstitutionId"],
                    let context = query["contextInstitutionId"]
                else { throw OAuthFailure(.invalidRequest, "An institution is missing") }
                try Self.check(context: context)
                var grant = try oauth.newGrant(nil, client, try query.required("scope"), at: call.now)
                grant.attributes = [
                    "authenticating": authenticating.count > 16 ? "" : authenticating, "context": context,
                ]
                issued = oauth.issue(grant, at: call.now)
            case "refresh_token":
                let grant = try oauth.renew(query, client, at: call.now)
                issued = oauth.issue(grant, at: call.now, keeping: query["refresh_token"])
            default: throw OAuthFailure(.unsupportedGrantType, "The grant_type is not supported")
            }
            return answer(issued, isLegacy: true, &call)
        } catch {
            throw OCLCFailure(error)
        }
    }

    private mutating func currentToken(_ call: inout IdentityCall) -> Response {
        do throws(OAuthFailure) {
            guard call.request.header("Authorization")?.lowercased().hasPrefix("basic ") == true else {
                throw OAuthFailure(.invalidClient, "The WSKey and its secret are given by HTTP Basic")
            }
            let now = call.now
            // OCLC's clients send the parameters in the query or in the body; some send all in the query.
            let form =
                call.request.body.isEmpty
                ? try OAuthParameters(call.request.query) : try OAuthParameters(form: call.request)
            let issued = try oauth.token(
                &call, form: form,
                other: { type, form, client, oauth throws(OAuthFailure) in
                    guard type == "client_credentials" else { return nil }
                    let scope = try form.required("scope")
                    let context = Self.context(in: scope.split(separator: " ").map(String.init))
                    try Self.check(context: context)
                    var grant = try oauth.newGrant(nil, client, scope, at: now)
                    grant.attributes = [
                        "authenticating": context ?? Self.ownContext, "context": context ?? Self.ownContext,
                    ]
                    return grant
                })
            return answer(issued, isLegacy: false, &call)
        } catch {
            return error.tokenResponse(call)
        }
    }

    /// The legacy server's numbers are numbers, and the current one's are text (seen by bookops-worldcat, authorize.py).
    private func answer(_ issued: StandardOAuth.Issued, isLegacy: Bool, _ call: inout IdentityCall) -> Response {
        let isOther = isLegacy == usesOtherSpelling
        let seconds = call.now / 1000
        let number = { (value: Int64) -> JSONValue in isOther ? .string("\(value)") : .integer(value) }
        let (authenticating, context) = (
            issued.grant.attributes["authenticating"] ?? "", issued.grant.attributes["context"] ?? ""
        )
        var members: [JSONValue.Member] = [
            .init("access_token", .string(issued.access)), .init("token_type", "bearer"),
            .init("expires_in", number(Self.accessLifetime)),
            .init("expires_at", .string(utcDate(seconds + Self.accessLifetime))),
            .init("authenticating_institution_id", .string(authenticating)),
            .init(isOther ? "contextInstitutionId" : "context_institution_id", .string(context)),
        ]
        if !isLegacy {
            members += [.init("scope", .string(issued.grant.scope)), .init("scopes", .string(issued.grant.scope))]
        }
        if let person = issued.grant.person.flatMap({ people[$0] }) {
            call.person = person.email
            let principal = Self.principal(of: person)
            members += [
                .init("principalID", .string(principal.id)), .init("principalIDNS", .string(principal.namespace)),
            ]
        } else {
            members += [.init("principalID", ""), .init("principalIDNS", "")]
        }
        if let refresh = issued.refresh, let end = oauth.refreshTokens.end(of: refresh) {
            members += [
                .init("refresh_token", .string(refresh)),
                .init("refresh_token_expires_in", number(end / 1000 - seconds)),
                .init("refresh_token_expires_at", .string(utcDate(end / 1000))),
            ]
        }
        return Response(status: 200, content: .json(.object(members)), headers: OAuthFailure.uncached)
    }

    // MARK: Resources

    private struct Caller {
        var grant: StandardOAuth.Grant?
        var principal: (id: String, namespace: String)?
    }

    /// Serves `/bib/data/{number}` and `/worldcat/manage/bibs/{number}` for a signature or a token of WorldCatMetadataAPI, and `/ncip` for
    /// a person's token of WMS_NCIP.
    private mutating func resource(_ parts: [String], _ call: inout IdentityCall) -> Response {
        do throws(OCLCFailure) {
            let header = call.request.header("Authorization") ?? ""
            let caller: Caller
            if header.hasPrefix(WSKeyHeader.scheme) {
                caller = Caller(principal: try signer(&call).principal)
            } else {
                caller = try bearer(&call, header)
            }
            let scope = parts.first == "ncip" ? "WMS_NCIP" : "WorldCatMetadataAPI"
            if let grant = caller.grant, !grant.scopes.contains(scope) {
                throw OCLCFailure(403, "The token is not for \(scope)")
            }
            guard parts.first != "ncip" || caller.grant?.person != nil else {
                throw OCLCFailure(401, "A user's token is needed")
            }
            let isThere =
                parts == ["ncip"] || parts.count == 3 && parts.starts(with: ["bib", "data"])
                || parts.count == 4 && parts.starts(with: ["worldcat", "manage", "bibs"])
            guard isThere else {
                throw OCLCFailure(404, "There is no such resource")
            }
            return Response([
                "service": .string(scope), "context_institution_id": .string(caller.grant?.attributes["context"] ?? ""),
                "principalID": .string(caller.principal?.id ?? ""),
                "principalIDNS": .string(caller.principal?.namespace ?? ""),
            ])
        } catch {
            return error.response(call)
        }
    }

    private func bearer(_ call: inout IdentityCall, _ header: String) throws(OCLCFailure) -> Caller {
        let grant: StandardOAuth.Grant
        do throws(OAuthFailure) {
            grant = try oauth.grant(call)
        } catch {
            throw OCLCFailure(401, error.description)
        }
        call.client = grant.client
        let person = grant.person.flatMap { people[$0] }
        call.person = person?.email
        let given = WSKeyHeader.parameters(header.drop { $0 != "," })
        let principal = person.map(Self.principal)
        if requiresPrincipal || given["principalid"] != nil {
            guard let principal, given["principalid"] == principal.id, given["principalidns"] == principal.namespace
            else {
                throw OCLCFailure(401, "principalID and principalIDNS are not the token's")
            }
        }
        return Caller(grant: grant, principal: principal)
    }
}
