// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// `/oauth2/accessToken`, whose parameters stand in the query of signed requests, and `/token`, which is as the RFCs have it.
extension OCLCService {
    mutating func legacyToken(_ call: inout IdentityCall) -> Response {
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

    mutating func currentToken(_ call: inout IdentityCall) -> Response {
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

    /// `/bib/data/{number}` and `/worldcat/manage/bibs/{number}` for a signature or a token of WorldCatMetadataAPI, `/ncip` for a person's token of WMS_NCIP.
    mutating func resource(_ parts: [String], _ call: inout IdentityCall) -> Response {
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
