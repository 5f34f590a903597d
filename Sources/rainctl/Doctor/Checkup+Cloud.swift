// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

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
