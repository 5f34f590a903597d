// SPDX-License-Identifier: Apache-2.0

/// The sign-in page of an institution, and the person's consent to the application.
extension OCLCService {
    /// `/oauth2/authorizeCode` with institutions as parameters; `/auth` with one in the path and the other in the scope.
    mutating func authorize(_ call: inout IdentityCall, isLegacy: Bool, institution: String?) -> Response {
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

    static func check(context: String?) throws(OAuthFailure) {
        guard context.map({ contexts.contains($0) }) != false else {
            throw OAuthFailure(.unauthorizedClient, "WSKey '\(key)' may not ask for the data of this institution")
        }
    }

    /// The institution of the scope `context:128807`.
    static func context(in words: [String]) -> String? {
        words.first { $0.hasPrefix("context:") }.map { String($0.dropFirst(8)) }
    }

    /// Asks at which institution to sign in, where the request does not say it.
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

    /// The fragment of the redirect. In its date the space is percent-encoded and the colons are not, as OCLC's documents print it.
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
        return fields.map { "\($0)=\(percentEncoded($1).replacing("%3A", with: ":"))" }.joined(separator: "&")
    }
}
