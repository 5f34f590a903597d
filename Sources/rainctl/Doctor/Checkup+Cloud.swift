// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Which cloud is in use.
extension Checkup {
    func profile() -> [Finding] {
        let deployment: Deployment
        do throws(AccountError) {
            deployment = try context.deployment()
        } catch {
            // The check of the files says so.
            guard !home.keepsAway(context.folders.configuration) else { return [] }
            return [unusable(error)]
        }
        guard deployment.claim != nil else {
            return [
                .warn(
                    "profile", "no_claim_service",
                    "The profile \(deployment.name.onOneLine) has no claim service: boards without a certificate cannot be set up there.",
                    fix: commandsForClaims(at: deployment)
                )
            ]
        }
        return [.ok("profile", "The profile in use is \(deployment.name.onOneLine), at \(deployment.base.text).")]
    }

    /// The new profile is also the one that is used from then on.
    private func commandsForClaims(at deployment: Deployment) -> String? {
        guard let (name, commands) = try? context.commandsForClaims(at: deployment) else { return nil }
        return "\(commands) && rainctl profile use \(name)"
    }

    private func unusable(_ error: AccountError) -> Finding {
        guard error.remedies.contains(.knownDeployment) else {
            let path = context.deploymentFile.path
            return Finding.fail("profile", "unreadable_profiles", error.message.asSentence)
                .mended(privateFile: path, else: Finding.movingAway(path))
        }
        var fix = "rainctl profile list"
        if let content = try? context.deploymentFile.load() {
            let origin = ProfileSettings.chosen(context, content).origin
            switch origin {
            case .variable(let name): fix = "unset \(name)"
            case .file(context.deploymentFile.path): fix = "rainctl profile use global"
            default: break
            }
        }
        return .fail("profile", "unknown_profile", error.message.asSentence, fix: fix)
    }
}

/// Who is signed in, and whether the cloud takes the session.
extension Checkup {
    func session() async -> [Finding] {
        // There is nowhere to look, which the check of the files says.
        guard !lacksHome else { return [] }
        let account: AccountAccess
        do throws(AccountError) {
            account = try context.client().account()
        } catch {
            return unusableList(error)
        }
        do throws(AccountError) {
            let status = try await account.session.status()
            let user = status.userName.onOneLine
            if status.hasExpired, !status.isRenewable {
                return [
                    .fail(
                        "session", "expired", "The session of \(user) is over, and nothing renews it.",
                        fix: signIn(status.userName))
                ]
            }
            if let finding = await refusal(of: account, user: status.userName) { return [finding] }
            return [.ok("session", "\(user) is signed in.")]
        } catch {
            return unusable(error, account)
        }
    }

    /// What the cloud has against the session, which looks good here, or why it cannot tell; nil where it takes it.
    private func refusal(of account: AccountAccess, user: String) async -> Finding? {
        guard let rainMaker = account.rainMaker else { return nil }
        let outcome = await answer(within: answerLimit) { () async throws(AccountError) in try await rainMaker.user() }
        let name = user.onOneLine
        var finding: Finding
        switch outcome {
        case .success: return nil
        case .failure(let error):
            let failure = CommandFailure(error)
            switch error.code {
            case .cancelled: return nil
            case _ where failure.status == .auth:
                return .fail(
                    "session", failure.reason,
                    "The cloud does not take the session of \(name) any longer: \(error.message.asSentence)",
                    fix: signIn(user))
            // Tokens that were renewed, and cannot be kept.
            case .storeUnreadable, .cannotStore, .storeLocked, .storeAbsent, .storeNotAnswering:
                return unusable(error, account).first
            case .rateLimited: finding = .warn("session", failure.reason, Self.untold(name, failure.message))
            case .serverFault: finding = .fail("session", failure.reason, Self.untold(name, failure.message))
            default:
                let fix = "rainctl account curl -- -i /v1/user2"
                finding = .fail("session", failure.reason, Self.untold(name, failure.message), fix: fix)
            }
        case nil:
            let message = Self.untold(name, "It does not answer.")
            finding = .fail("session", "timeout", message, fix: "rainctl account curl -- -i /v1/user2")
        }
        finding.messageWithoutCloud = "\(name) is signed in, as far as can be told without the cloud."
        return finding
    }

    private static func untold(_ user: String, _ why: String) -> String {
        "The cloud does not say whether it takes the session of \(user): \(why)"
    }

    /// Where not even the account is known.
    private func unusableList(_ error: AccountError) -> [Finding] {
        // The check of the profile says so, or that of the files.
        guard error.code != .invalidConfiguration, !home.keepsAway(context.folders.state) else { return [] }
        let finding = Finding.fail("session", Self.reason(error), error.message.asSentence)
        let path = context.accounts.known.path
        if (try? context.accounts.known.load()) == nil {
            return [finding.mended(privateFile: path, else: Finding.movingAway(path))]
        }
        // What is left is what systemd hands to a service.
        return [finding.fixed(by: "ls -l \(context.environment["CREDENTIALS_DIRECTORY"]?.asShellWord ?? "")")]
    }

    private func unusable(_ error: AccountError, _ account: AccountAccess) -> [Finding] {
        let finding = Finding.fail("session", Self.reason(error), error.message.asSentence)
        let user = userName(of: account)
        switch error.code {
        case .notSignedIn: return [absent(account)]
        // The check of the profile says so.
        case .invalidConfiguration: return []
        // The check of the files says so.
        case .storeUnreadable where home.keepsAway(context.folders.state),
            .cannotStore where home.keepsAway(context.folders.state):
            return []
        // A sign-in replaces what is stored, whatever that is.
        case .storeUnreadable, .cannotStore:
            guard let path = account.place.path else { return [finding.fixed(by: signIn(user))] }
            return [finding.mended(privateFile: path, else: signIn(user))]
        case .storeLocked, .storeAbsent, .storeNotAnswering:
            return [finding.fixed(by: "\(signIn(user)) --store file")]
        default:
            let failure = CommandFailure(error)
            return [
                .fail(
                    "session", failure.reason, failure.message,
                    fix: failure.status == .auth ? signIn(user) : "rainctl account status")
            ]
        }
    }

    /// Nobody is signed in, or not the one whom somebody names.
    private func absent(_ account: AccountAccess) -> Finding {
        let list = try? context.accounts.known.load()
        guard let (name, origin) = ProfileSettings.namedAccount(context) else {
            return .fail("session", "not_signed_in", "Nobody is signed in.", fix: signIn(nil))
        }
        let others = (list?.entries(at: account.name) ?? []).map(\.name).filter { $0 != name }
        let known = others.isEmpty ? "nobody else" : others.map(\.onOneLine).joined(separator: ", ")
        let message =
            "The account \(name.onOneLine) is not signed in at \(account.name.onOneLine). The name comes from: \(origin). "
            + "Signed in there: \(known)."
        // What it is called may be no name that one can sign in with.
        let user = list?.entry(name, at: account.name)?.userName ?? (name.contains("@") ? name : nil)
        guard case .variable(let variable) = origin, !others.isEmpty else {
            return .fail("session", "not_signed_in", message, fix: signIn(user))
        }
        return .fail("session", "not_signed_in", message, fix: "unset \(variable)")
    }

    /// A folder that is not trusted keeps a session from being read here, and not only from being stored.
    private static func reason(_ error: AccountError) -> String {
        error.code == .cannotStore ? "store_unreadable" : "\(error.code)"
    }

    /// What the user signs in with, where the list of accounts has them.
    private func userName(of account: AccountAccess) -> String? {
        guard let list = try? context.accounts.known.load(), let name = account.place.account else { return nil }
        return list.entry(name, at: account.name)?.userName
    }

    /// To the same deployment and account as this command's options name.
    private func signIn(_ user: String?) -> String {
        var words = ["rainctl", "login", user?.withoutControls.asShellWord ?? "USER"]
        if let profile = context.options.profile { words += ["--profile", profile.asShellWord] }
        if let account = context.options.account { words += ["--account", account.asShellWord] }
        return words.joined(separator: " ")
    }
}

/// Whether the cloud, and its claim service, can be reached.
extension Checkup {
    func cloud() async -> [Finding] {
        guard let deployment = try? context.deployment() else { return [] }
        let http = RainKitTools().http(deployment.certificateAuthorities)
        let request = HTTPRequest(
            method: .get, url: "\(deployment.base.text)/apiversions", headers: [HTTPHeader("User-Agent", "RainKit")],
            deadline: answerLimit)
        let host = deployment.base.authority
        async let claims = claimService(of: deployment, http)
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await http.send(request)
        } catch {
            let trouble = trouble(error, deployment.base)
            return [.fail("cloud", trouble.reason, trouble.message, fix: trouble.fix)]
        }
        return [clock(response, host), Self.finding(about: response, host)].compactMap { $0 } + (await claims)
    }

    /// Nil where the answer has no date.
    private func clock(_ response: HTTPResponse, _ host: String) -> Finding? {
        guard let date = response.date else { return nil }
        let (here, there) = (Int64(RainKitTools().clock.now.seconds), Int64(date.seconds))
        guard abs(here - there) > 120 else { return .ok("clock", "This machine's clock agrees with \(host)'s.") }
        let minutes = abs(here - there) / 60
        return .warn(
            "clock", "clock_skew",
            "This machine's clock is \(minutes) minutes \(here > there ? "ahead of" : "behind") \(host)'s: certificates and tokens go by it.",
            fix: "sudo timedatectl set-ntp true")
    }

    private static func finding(about response: HTTPResponse, _ host: String) -> Finding {
        switch response.status {
        case 200..<300: return finding(aboutVersions: response.body, host)
        // 511 is that of sign-in portals alone (RFC 6585, section 6).
        case 300..<400, 511: return signInPage(host)
        case 429:
            return .warn(
                "cloud", "rate_limited", "\(host) is there, and asks to be left alone (429): try again later.")
        case 500...:
            return .fail(
                "cloud", "server_fault",
                "\(host) is there, and has a fault of its own (\(response.status)): try later.")
        default:
            return .fail(
                "cloud", "not_the_service",
                "\(host) is there, and is no RainMaker cloud (it answers \(response.status)): check the base URL.",
                fix: "rainctl profile show")
        }
    }

    /// Portals, and web servers at a wrong address, answer with 200 as well: only the service names its versions.
    private static func finding(aboutVersions body: [UInt8], _ host: String) -> Finding {
        let why: String
        do throws(JSONError) {
            let json = try JSONValue(parsing: body, limits: JSONLimits(maximumBytes: 1 << 20))
            if json["supported_versions"]?.array?.isEmpty == false { return .ok("cloud", "\(host) answers.") }
            why = "without the versions that the service names"
        } catch {
            if error.code == .markup { return signInPage(host) }
            why = "with no readable JSON (\(error.description.onOneLine))"
        }
        return .fail(
            "cloud", "not_the_service",
            "\(host) does not answer as a RainMaker cloud does, but \(why): check the base URL, and what is on the way to it.",
            fix: "rainctl profile show")
    }

    private static func signInPage(_ host: String) -> Finding {
        .fail(
            "cloud", "sign_in_page",
            "Another page answers in the place of \(host): this network wants a sign-in in the browser, or the base URL is a web site's.",
            fix: "xdg-open http://example.com")
    }

    /// Boards are claimed at another address, which is only of use where the cloud is there.
    private func claimService(of deployment: Deployment, _ http: any HTTPClient) async -> [Finding] {
        guard let claim = deployment.claim else { return [] }
        let present = Finding.ok("claim", "Boards are claimed at \(claim.authority), which answers.")
        // The check of the cloud is one of it, too.
        guard claim.authority != deployment.base.authority else {
            return [.ok("claim", "Boards are claimed at \(claim.authority), as the cloud is.")]
        }
        let request = HTTPRequest(
            method: .get, url: claim.text + "/", headers: [HTTPHeader("User-Agent", "RainKit")], deadline: answerLimit)
        do throws(HTTPError) {
            // Whatever it says to this: it is there.
            _ = try await http.send(request)
            return [present]
        } catch {
            if error.code == .cancelled { return [] }
            guard !error.receivedBytes else { return [present] }
            let trouble = trouble(error, claim)
            return [
                .warn(
                    "claim", trouble.reason,
                    "\(trouble.message) Boards without a certificate cannot be set up until then.", fix: trouble.fix)
            ]
        }
    }

    private func trouble(
        _ error: HTTPError, _ service: ServiceURL
    ) -> (reason: String, message: String, fix: String) {
        let host = service.authority
        let isProxyFault =
            error.code == .timeout ? error.silentProxy != nil : [.proxy, .proxyRefused].contains(error.code)
        if isProxyFault, let proxy = proxy(for: service) {
            return (
                "proxy", "\(host) cannot be reached: \(error.message.onOneLine).",
                "unset \(proxy.joined(separator: " "))"
            )
        }
        return switch error.code {
        case .unresolved:
            (
                "no_such_name",
                "The name \(host) is not found: there is no internet here, or no name service, or the name is wrong.",
                "getent hosts \(host.split(separator: ":").first ?? "")"
            )
        case .tls:
            (
                "tls", "There is no trusted connection to \(host): \(error.message.onOneLine).",
                "rainctl doctor --ca-file FILE"
            )
        case .timeout:
            ("timeout", "\(host) does not answer: a firewall may be in the way.", "curl -v \(service.text)")
        default: ("unreachable", "\(host) cannot be reached: \(error.message.onOneLine).", "ip route")
        }
    }

    /// The variables that name the proxy of a service; nil where it is reached directly.
    private func proxy(for service: ServiceURL) -> [String]? {
        let isSecure = service.text.hasPrefix("https://")
        guard ProxySetting(for: service.authority, isEncrypted: isSecure, context.variable) != nil else { return nil }
        let names = (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        return names.filter { context.variable($0) != nil }
    }
}
