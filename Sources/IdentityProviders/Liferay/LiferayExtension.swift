// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// What Liferay does that its definition cannot say: passwords with each request, sessions out of its sign-in form, its JSON web services.
struct LiferayExtension: ProviderExtension {
    /// Names under which tokens keep what goes with them.
    enum Extra {
        static let user = "user"
        static let loginBy = "loginBy"
        /// The company's id that the portal itself told.
        static let company = "companyId"
        static let csrfToken = "csrf"
        /// The portal's version, where it was found out and is older than 7.0.
        static let version = "serverVersion"
        /// What a server before the portal wants, and in which header.
        static let preAuthorization = "preAuthorization"
        static let preAuthorizationHeader = "preAuthorizationHeader"
    }

    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError? {
        // Token endpoints refuse in OAuth's words, which the engine knows.
        if let json, json["error"]?.string != nil, json["exception"] == nil { return nil }
        let host = provider.resources.first?.authority ?? provider.title
        if let json {
            for value in [json] + (json.array ?? []) {
                guard let exception = LiferayException(value) else { continue }
                return exception.accountError(from: host, status: response.status)
            }
        }
        return LiferayReply.refusal(response, from: host)
    }

    func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> SignOutReport? {
        switch tokens.kind {
        case .basic: return .complete
        case .cookie:
            let settings = try LiferaySettings(provider)
            var request = HTTPRequest(
                method: .get, url: settings.server.text + "/c/portal/logout",
                headers: [HTTPHeader("User-Agent", "RainKit")])
            provider.authorize(&request, with: tokens)
            let response: HTTPResponse
            do throws(HTTPError) {
                response = try await provider.tools.http.send(request)
            } catch {
                throw AccountError(error)
            }
            // It sends a browser on to its front page; where that is does not matter.
            if let refusal = LiferayReply.refusal(response, from: settings.server.authority),
                !(300..<400 ~= response.status)
            {
                throw refusal
            }
            return .complete
        default: return nil
        }
    }

    func authorize(_ request: inout HTTPRequest, with tokens: Tokens, _ provider: ConfiguredProvider) -> Bool {
        switch tokens.kind {
        case .basic:
            let value = BasicAuthorization.value(user: tokens[Extra.user] ?? "", password: tokens.access)
            request.headers.append(HTTPHeader("Authorization", value.revealString()))
            return true
        case .cookie:
            request.headers.append(HTTPHeader("Cookie", tokens.access.revealString()))
            if let token = tokens[Extra.csrfToken] {
                request.headers.append(HTTPHeader(LiferayAuthToken.header, token))
            }
            return true
        default: return false
        }
    }

    func check(_ provider: ConfiguredProvider) throws(AccountError) { _ = try LiferaySettings(provider) }

    var realm: String? { "PortalRealm" }

    func context(of provider: ConfiguredProvider) -> [String: String] {
        guard let company = try? LiferaySettings.companyID(provider) else { return [:] }
        return ["companyId": "\(company)"]
    }
}
