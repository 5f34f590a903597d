// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import RainWaiting

/// Which cloud, who is signed in, and whether the cloud can be reached.
extension Checkup {
    func profile() -> [Finding] {
        let deployment: Deployment
        do throws(AccountError) {
            deployment = try context.deployment()
        } catch {
            let file = context.deploymentFile.path.onOneLine
            let isUnknown = error.remedies.contains(.knownDeployment)
            return [
                .fail(
                    "profile", isUnknown ? "unknown_profile" : "unreadable_profiles", error.message.asSentence,
                    // What is damaged may still be mended by hand: it is moved away, and not lost.
                    fix: isUnknown ? "rainctl profile list" : "mv \(file) \(file).damaged")
            ]
        }
        guard deployment.claim != nil else {
            return [
                .warn(
                    "profile", "no_claim_service",
                    "The profile \(deployment.name.onOneLine) has no claim service: boards without a certificate cannot be set up there.",
                    fix:
                        "rainctl profile remove \(deployment.name.onOneLine) && rainctl profile add \(deployment.name.onOneLine) --base-url \(deployment.base.text) --claim-url URL"
                )
            ]
        }
        return [.ok("profile", "The profile in use is \(deployment.name.onOneLine), at \(deployment.base.text).")]
    }

    func session() async -> [Finding] {
        do throws(AccountError) {
            let account = try context.client().account()
            let status = try await account.session.status()
            if status.hasExpired, !status.isRenewable {
                return [
                    .fail(
                        "session", "expired",
                        "The session of \(status.userName.onOneLine) is over, and nothing renews it.",
                        fix: "rainctl login \(status.userName.onOneLine)")
                ]
            }
            return [await sessionAtCloud(account, status.userName)]
        } catch {
            switch error.code {
            case .notSignedIn:
                return [.fail("session", "not_signed_in", "Nobody is signed in.", fix: "rainctl login USER")]
            // The check of the profile says so.
            case .invalidConfiguration: return []
            case .storeUnreadable, .cannotStore: return [unreadableStore(error)]
            case .wrongContext:
                return [.fail("session", "wrong_context", error.message.asSentence, fix: "rainctl login USER")]
            case .storeLocked:
                return [
                    .fail(
                        "session", "store_locked", error.message.asSentence,
                        fix: "rainctl login USER --store file")
                ]
            default:
                let failure = CommandFailure(error)
                return [.fail("session", failure.reason, failure.message, fix: "rainctl account status")]
            }
        }
    }

    /// What is stored says nothing of a session that was ended elsewhere: the cloud is asked. Where it cannot be, its own check says so.
    private func sessionAtCloud(_ account: AccountAccess, _ user: String) async -> Finding {
        let session = account.session
        let answer = await withDeadline(Self.limit - .seconds(1), sleep: { try await Task.sleep(for: $0) }) {
            () async throws(AccountError) in
            try await session.user()
        }
        if case .failure(let error)? = answer, [.expired, .invalidGrant, .notSignedIn].contains(error.code) {
            return .fail(
                "session", "expired", "The session of \(user.onOneLine) has ended at the cloud.",
                fix: "rainctl login \(user.onOneLine)")
        }
        return .ok("session", "\(user.onOneLine) is signed in.")
    }

    private func unreadableStore(_ error: AccountError) -> Finding {
        let found = Finding.fail("session", "store_unreadable", error.message.asSentence, fix: "rainctl login USER")
        let (folder, accounts) = ("\(context.folders.state)/sessions", "\(context.folders.state)/accounts.json")
        var status = stat()
        if stat(folder, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o022 != 0 {
            return found.repaired(by: ["chmod", "700", folder])
        }
        // A sign-in replaces a session that cannot be read, but not the list of all accounts, in which there may be others.
        if error.message.contains(accounts) { return found.repaired(by: ["mv", accounts, accounts + ".damaged"]) }
        return found
    }

    func cloud() async -> [Finding] {
        guard let deployment = try? context.deployment() else { return [] }
        let http = RainKitTools().http(deployment.certificateAuthorities)
        let request = HTTPRequest(
            method: .get, url: "\(deployment.base.text)/apiversions", headers: [HTTPHeader("User-Agent", "RainKit")],
            deadline: Self.limit - .seconds(1))
        let host = deployment.base.authority
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await http.send(request)
        } catch {
            return [unreachable(error, host)]
        }
        var findings: [Finding] = []
        let here = Int64(RainKitTools().clock.now.seconds)
        if let date = response.headers.first(where: { $0.name.lowercased() == "date" })?.value,
            let there = HTTPDate.seconds(date), abs(here - there) > 120
        {
            let minutes = abs(here - there) / 60
            findings.append(
                .warn(
                    "clock", "clock_skew",
                    "This machine's clock is \(minutes) minutes \(here > there ? "ahead of" : "behind") \(host)'s: certificates and tokens go by it.",
                    fix: "sudo timedatectl set-ntp true"))
        }
        switch response.status {
        case 200: findings.append(.ok("cloud", "\(host) answers."))
        case 300..<400:
            findings.append(
                .fail(
                    "cloud", "sign_in_page",
                    "Another page answers in the place of \(host): this network wants a sign-in in the browser.",
                    fix: "xdg-open http://example.com"))
        case 500...:
            findings.append(
                .fail(
                    "cloud", "server_fault",
                    "\(host) is there, and has a fault of its own (\(response.status)): try later."))
        default:
            findings.append(
                .fail(
                    "cloud", "not_the_service",
                    "\(host) is there, and is no RainMaker cloud (it answers \(response.status)): check the base URL.",
                    fix: "rainctl profile show"))
        }
        return findings
    }

    private func unreachable(_ error: HTTPError, _ host: String) -> Finding {
        switch error.code {
        case .unresolved:
            .fail(
                "cloud", "no_such_name",
                "The name \(host) is not found: there is no internet here, or no name service, or the name is wrong.",
                fix: "getent hosts \(host.split(separator: ":").first ?? "")")
        case .tls:
            .fail(
                "cloud", "tls", "\(host) shows a certificate that is not trusted: \(error.message.onOneLine).",
                fix: "rainctl doctor --ca-file FILE")
        case .timeout:
            .fail(
                "cloud", "timeout", "\(host) does not answer: a firewall may be in the way.",
                fix: "curl -v https://\(host)")
        default:
            .fail("cloud", "unreachable", "\(host) cannot be reached: \(error.message.onOneLine).", fix: "ip route")
        }
    }
}

/// The date of an HTTP answer (RFC 9110, 5.6.7), in the one form that servers send.
enum HTTPDate {
    /// Seconds since 1970; nil for anything else, such as `Sun, 06 Nov 1994 08:49:37 GMT` is not.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
            let index = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1970...9999).contains(year)
        else { return nil }
        let time = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
            return nil
        }
        // Days from the civil calendar, with years that begin in March.
        let month = Int64(index) + 1
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
        return days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    }
}
