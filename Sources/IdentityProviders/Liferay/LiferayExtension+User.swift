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
        var tokens = tokens
        return try await liferayUser(&tokens, provider)
    }

    /// - Parameter tokens: get the portal's version, where it is found out.
    func liferayUser(_ tokens: inout Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> LiferayUser {
        let settings = try LiferaySettings(provider)
        let companyID = settings.companyID ?? tokens[Extra.company].flatMap { Int64($0) }
        let reply: ConfiguredProvider.Reply
        if tokens.kind == .basic {
            let kind = tokens[Extra.loginBy].flatMap(LiferayLogin.Kind.init(rawValue:))
            let login = LiferayLogin(tokens[Extra.user] ?? "", kind: kind)
            do throws(AccountError) {
                reply = try await self.reply(&tokens, settings, provider) { _ in
                    .user(login, companyID: companyID ?? 0)
                }
            } catch {
                guard error.code == .unknownUser else { throw error }
                // The portal took the password, so there is such a user: elsewhere.
                var error = error
                error.code = .wrongContext
                error.message =
                    "the portal takes the password and knows no such user in its company \(companyID ?? 0) "
                    + "(\(settings.companySetting)); set \(settings.companySetting)"
                error.remedies = [.parameter(name: settings.companySetting)]
                throw error
            }
        } else {
            reply = try await self.reply(&tokens, settings, provider, LiferayCommand.currentUser(version:))
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
                    "the user belongs to the portal's company \(company), and \(companyID) is configured "
                    + "(\(settings.companySetting)); set \(settings.companySetting)",
                remedies: [.parameter(name: settings.companySetting)])
        }
        return user
    }

    /// Calls a service whose name depends on the portal's version. Where nobody has said the version, a portal that does not know the
    /// service of 7.0 is asked for that of 6.2.
    private func reply(
        _ tokens: inout Tokens, _ settings: LiferaySettings, _ provider: ConfiguredProvider,
        _ command: (LiferayVersion) -> LiferayCommand
    ) async throws(AccountError) -> ConfiguredProvider.Reply {
        let known = settings.version ?? tokens[Extra.version].flatMap { LiferayVersion($0) }
        var (refusal, last): (AccountError?, LiferayCommand?) = (nil, nil)
        for version in known.map({ [$0] }) ?? [.v70, .v62] {
            let command = command(version)
            if command == last { break }
            last = command
            do throws(AccountError) {
                let reply = try await provider.send(
                    LiferayCommand.request([command], settings, version: version), with: tokens)
                if known == nil, version < .v70 { tokens[Extra.version] = "\(version.rawValue)" }
                return reply
            } catch {
                guard error.code == .unsupported, !error.isFromGateway else { throw error }
                refusal = refusal ?? error
            }
        }
        var error = refusal ?? AccountError(.unsupported, message: "no version of the portal is known")
        let tried = known.map { "version \($0.rawValue)" } ?? "versions 70 and 62"
        error.message =
            "\(settings.server.authority) has no service that tells who is signed in (by the names of \(tried)); "
            + "check the portal's address and set serverVersion"
        error.remedies = [.parameter(name: "serverVersion")]
        throw error
    }

    /// The id of the company that the user's first site belongs to. Every user of a portal is a member of one at least.
    func companyID(
        _ tokens: inout Tokens, _ settings: LiferaySettings, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Int64 {
        let reply: ConfiguredProvider.Reply
        do throws(AccountError) {
            reply = try await self.reply(&tokens, settings, provider, LiferayCommand.sites(version:))
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
