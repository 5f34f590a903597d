// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

extension LiferayExtension {
    func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo? {
        if tokens["grant"] == GrantName.clientCredentials.rawValue { return nil }
        return try await liferayUser(tokens, provider).userInfo
    }

    func liferayUser(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> LiferayUser {
        let settings = try LiferaySettings(provider)
        let companyID = settings.companyID ?? tokens[Extra.company].flatMap { Int64($0) }
        let command: LiferayCommand
        if tokens.kind == .basic {
            let kind = tokens[Extra.loginBy].flatMap(LiferayLogin.Kind.init(rawValue:))
            command = .user(LiferayLogin(tokens[Extra.user] ?? "", kind: kind), companyID: companyID ?? 0)
        } else {
            command = .currentUser(version: settings.version)
        }
        let request = LiferayCommand.request([command], settings)
        let reply: ConfiguredProvider.Reply
        do throws(AccountError) {
            reply = try await provider.send(request, with: tokens)
        } catch {
            guard tokens.kind == .basic, error.code == .unknownUser else { throw error }
            // The portal took the password, so there is such a user: elsewhere.
            var error = error
            error.code = .wrongContext
            error.message =
                "the portal takes the password and knows no such user in its company \(companyID ?? 0); set companyId"
            throw error
        }
        guard let user = LiferayUser(reply.json.array?.first ?? reply.json) else {
            throw AccountError(
                .unknownUser,
                message: "the portal found no such user; check the name, how users sign in there, and the company's id",
                status: reply.response.status)
        }
        if let company = user.companyID, let companyID, company != companyID {
            throw AccountError(
                .wrongContext,
                message:
                    "the user belongs to the portal's company \(company), and \(companyID) is configured; set companyId"
            )
        }
        return user
    }

    /// The id of the company that the user's first site belongs to. Every user of a portal is a member of one at least.
    func companyID(
        _ tokens: Tokens, _ settings: LiferaySettings, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Int64 {
        let request = LiferayCommand.request([.sites(version: settings.version)], settings)
        let reply: ConfiguredProvider.Reply
        do throws(AccountError) {
            reply = try await provider.send(request, with: tokens)
        } catch {
            throw LiferayExtension.wrongPassword(error)
        }
        let sites = reply.json.array?.first?.array ?? reply.json.array ?? []
        guard let id = sites.lazy.compactMap({ $0["companyId"].flatMap { LenientInteger($0)?.value } }).first, id > 0
        else {
            throw AccountError(
                .missingParameter,
                message: "\(provider.title) does not say which of its companies the user belongs to; set companyId",
                remedies: [.parameter(name: "companyId")])
        }
        return id
    }
}
