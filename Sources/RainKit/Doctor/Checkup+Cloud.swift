// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainHTTPCurl
import RainJSON
import RainMaker

/// Whether the cloud, and its claim service, can be reached.
extension Checkup {
    func cloud() async -> [Finding] {
        let configuration = client.configuration
        // An account of another provider uses another cloud.
        guard configuration.provider == nil else { return [] }
        let deployment = configuration.deployment
        let http = configuration.tools.http(configuration.certificateAuthorities ?? deployment.certificateAuthorities)
        let request = HTTPRequest(
            method: .get, url: "\(deployment.base.text)/apiversions", headers: [HTTPHeader("User-Agent", "RainKit")],
            deadline: answerLimit)
        let host = deployment.base.authority
        if deployment.neo != nil { return await neo(deployment, http) }
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

    /// Whether the main API of a RainMaker Neo deployment can be reached. It answers nothing without a signature, but it answers.
    private func neo(_ deployment: Deployment, _ http: any HTTPClient) async -> [Finding] {
        let host = deployment.base.authority
        let request = HTTPRequest(
            method: .get, url: "\(deployment.base.text)/v1/groups", headers: [HTTPHeader("User-Agent", "RainKit")],
            deadline: answerLimit)
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await http.send(request)
        } catch {
            let trouble = trouble(error, deployment.base)
            return [.fail("cloud", trouble.reason, trouble.message, fix: trouble.fix)]
        }
        // API Gateway's answer to a request without a signature.
        let finding =
            [401, 403].contains(response.status)
            ? Finding.ok("cloud", "\(host) answers.") : Self.finding(about: response, host)
        return [clock(response, host), finding].compactMap { $0 }
    }

    /// Nil where the answer has no date.
    private func clock(_ response: HTTPResponse, _ host: String) -> Finding? {
        guard let date = response.date else { return nil }
        let (here, there) = (Int64(client.configuration.tools.clock.now.seconds), Int64(date.seconds))
        guard abs(here - there) > 120 else { return .ok("clock", "This machine's clock agrees with \(host)'s.") }
        let minutes = abs(here - there) / 60
        return .warn(
            "clock", "clock_skew",
            "This machine's clock is \(minutes) minutes \(here > there ? "ahead of" : "behind") \(host)'s: certificates and tokens need "
                + "the right time.",
            fix: .command("sudo timedatectl set-ntp true"))
    }

    private static func finding(about response: HTTPResponse, _ host: String) -> Finding {
        switch response.status {
        case 200..<300: return finding(aboutVersions: response.body, host)
        // Only sign-in portals use 511 (RFC 6585, section 6).
        case 300..<400, 511: return signInPage(host)
        case 429:
            return .warn(
                "cloud", "rate_limited",
                "\(host) answers, but accepts no more requests at the moment (HTTP 429): try again later.")
        case 500...:
            return .fail(
                "cloud", "server_fault",
                "\(host) answers, but has an internal fault (HTTP \(response.status)): try again later.")
        default:
            return .fail(
                "cloud", "not_the_service",
                "\(host) answers, but is not a RainMaker cloud (HTTP \(response.status)): check the base URL.",
                fix: .remedy(.deploymentSettings))
        }
    }

    /// Portals, and web servers at a wrong address, answer with 200 as well: only the service lists its versions.
    private static func finding(aboutVersions body: [UInt8], _ host: String) -> Finding {
        let why: String
        do throws(JSONError) {
            let json = try JSONValue(parsing: body, limits: JSONLimits(maximumBytes: 1 << 20))
            if json["supported_versions"]?.array?.isEmpty == false { return .ok("cloud", "\(host) answers.") }
            why = "does not list API versions"
        } catch {
            if error.code == .markup { return signInPage(host) }
            why = "is not readable JSON (\(error.description.onOneLine))"
        }
        return .fail(
            "cloud", "not_the_service",
            "\(host) does not answer like a RainMaker cloud: its answer \(why). Check the base URL, and any proxy or sign-in page on the way.",
            fix: .remedy(.deploymentSettings))
    }

    private static func signInPage(_ host: String) -> Finding {
        .fail(
            "cloud", "sign_in_page",
            "A web page answers instead of \(host). This network may require a sign-in in the browser, or the base URL may belong to a web "
                + "site.",
            fix: .command("xdg-open http://example.com"))
    }

    /// The service where boards are claimed, which may be at another address than the cloud.
    private func claimService(of deployment: Deployment, _ http: any HTTPClient) async -> [Finding] {
        guard let claim = deployment.claim else { return [] }
        let present = Finding.ok("claim", "The claim service at \(claim.authority) answers.")
        // The check of the cloud checks it, too.
        guard claim.authority != deployment.base.authority else {
            return [.ok("claim", "The claim service has the same address as the cloud, \(claim.authority).")]
        }
        let request = HTTPRequest(
            method: .get, url: claim.text + "/", headers: [HTTPHeader("User-Agent", "RainKit")], deadline: answerLimit)
        do throws(HTTPError) {
            // Any answer shows that the service can be reached.
            _ = try await http.send(request)
            return [present]
        } catch {
            if error.code == .cancelled { return [] }
            guard !error.receivedBytes else { return [present] }
            let trouble = trouble(error, claim)
            return [
                .warn(
                    "claim", trouble.reason,
                    "\(trouble.message) Until the claim service answers, boards without a certificate cannot be set up.",
                    fix: trouble.fix)
            ]
        }
    }

    private func trouble(
        _ error: HTTPError, _ service: ServiceURL
    ) -> (reason: String, message: String, fix: Finding.Fix) {
        let host = service.authority
        let isProxyFault =
            error.code == .timeout ? error.silentProxy != nil : [.proxy, .proxyRefused].contains(error.code)
        if isProxyFault, let proxy = proxy(for: service) {
            return (
                "proxy", "\(host) cannot be reached: \(error.message.onOneLine).",
                .command("unset \(proxy.joined(separator: " "))")
            )
        }
        return switch error.code {
        case .unresolved:
            (
                "no_such_name",
                "The name \(host) is not found. This machine may have no internet connection, DNS may not work, or the name may be wrong.",
                .command("getent hosts \(host.split(separator: ":").first ?? "")")
            )
        case .tls:
            (
                "tls", "There is no trusted connection to \(host): \(error.message.onOneLine).",
                .remedy(.certificateAuthorities)
            )
        case .timeout where error.lacksTLS:
            (
                "timeout", "\(host) accepts connections, but does not begin TLS: check the base URL and its port.",
                .remedy(.deploymentSettings)
            )
        case .timeout where error.receivedBytes:
            (
                "timeout", "\(host) begins to answer, but the answer is not complete in time.",
                .command("curl -v \(service.text)")
            )
        case .timeout:
            (
                "timeout", "\(host) does not answer: a firewall may block the connection.",
                .command("curl -v \(service.text)")
            )
        case .unreachable where error.isRefused:
            ("unreachable", "\(host) cannot be reached: \(error.message.onOneLine).", .remedy(.deploymentSettings))
        default: ("unreachable", "\(host) cannot be reached: \(error.message.onOneLine).", .command("ip route"))
        }
    }

    /// The variables that name the proxy of a service; nil where it is reached directly.
    private func proxy(for service: ServiceURL) -> [String]? {
        let isSecure = service.text.hasPrefix("https://")
        guard ProxySetting(for: service.authority, isEncrypted: isSecure, variable) != nil else { return nil }
        let names = (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        return names.filter { variable($0) != nil }
    }
}
