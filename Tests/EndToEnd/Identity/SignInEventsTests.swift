// SPDX-License-Identifier: Apache-2.0
import RainHTTPCurl
import RainJSON
import RainKit
import TestSupport
import Testing

@Suite("rainctl login --events ndjson")
struct SignInEventsTests {
    private struct Line {
        var state: String
        var code: String
    }

    /// The lines, each with the members that every event has.
    private func lines(_ text: String) throws -> [Line] {
        try text.split(separator: "\n").map { line in
            let json = try JSONValue(parsing: Array(line.utf8))
            let names = ["ts", "run", "device", "step", "state", "code", "attempt", "elapsed_ms"]
            #expect(json.members?.prefix(8).map(\.name) == names, "\(line)")
            #expect(json["step"] == "sign_in" && json["attempt"] == 1)
            return Line(state: json["state"]?.string ?? "", code: json["code"]?.string ?? "")
        }
    }

    @Test(
        "the session's events are lines, and the last one is the result or the error",
        arguments: ["liferay", "rainmaker"])
    func told(provider: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            var user = SimulatedIdentity.user
            var more: [String] = []
            folder.writePrivately(Array(SimulatedIdentity.password.utf8), to: "right")
            folder.writePrivately(Array("wrong".utf8), to: "wrong")
            var running: [Any] = []
            if provider == "liferay" {
                let simulated = try await SimulatedIdentity.start("liferay", in: folder)
                more = ["--provider", "liferay", "--base-url", try simulated.url("liferay"), "--save-credentials"]
                running.append(simulated)
            } else {
                let cloud = try await SimulatedCloud.start(in: folder)
                for words in [["profile", "add", "sim", "--base-url", cloud.api], ["profile", "use", "sim"]] {
                    #expect(try await maker.rainctl(words).status == 0)
                }
                user = SimulatedCloud.user
                folder.writePrivately(Array(SimulatedCloud.password.utf8), to: "right")
                running.append(cloud)
            }
            let login = ["login", user, "--store", "file", "--events", "ndjson"] + more
            let failed = try await maker.rainctl(login + ["--password-file", folder.file("wrong")])
            #expect(failed.status == 77, "\(failed.standardOutput)\(failed.standardError)")
            var told = try lines(failed.standardOutput)
            #expect(told.map(\.state) == ["started", "sign_in_failed", "ended"])
            #expect(told.dropFirst().allSatisfy { $0.code == "auth" })
            #expect(failed.standardOutput.contains("\"reason\":\"invalid_credentials\""))

            let done = try await maker.rainctl(login + ["--password-file", folder.file("right")])
            #expect(done.status == 0, "\(done.standardOutput)\(done.standardError)")
            told = try lines(done.standardOutput)
            #expect(told.map(\.state) == ["started", "credentials_saved", "signed_in", "done"])
            #expect(told.allSatisfy { $0.code == "ok" } && done.standardOutput.contains("\"user_name\":"))
            let saved = try done.events().filter { ["credentials_saved", "signed_in"].contains($0["state"]?.string) }
            #expect(saved.allSatisfy { $0["user_name"] == .string(user) && $0["user_id"] != nil })
            if provider == "liferay" { #expect(saved.allSatisfy { $0["attributes"]?["screenName"] == "ada" }) }

            // With --json the document has standard output for itself.
            let both = try await maker.rainctl(login + ["--password-file", folder.file("right"), "--json"])
            #expect(both.document?["signed_in"] == true)
            let again = try both.events()
            #expect(
                again.map { $0["state"]?.string } == [
                    "started", "credentials_loaded", "credentials_saved", "signed_in", "done",
                ])
            if provider == "liferay" { #expect(again[1]["attributes"]?["companyId"] == 10157) }

            // What is not kept is not reported as saved, and the session that is stored stays.
            let unsaved = try await maker.rainctl(
                login.filter { !["--store", "file", "--save-credentials"].contains($0) } + [
                    "--no-save", "--password-file", folder.file("right"),
                ])
            #expect(
                try lines(unsaved.standardOutput).map(\.state) == [
                    "started", "credentials_loaded", "signed_in", "done",
                ])
            let who = try await maker.rainctl(["whoami", "--offline", "--json"] + more.prefix(2))
            #expect(who.status == 0 && who.document?["user_name"] == .string(user), "\(who.standardOutput)")
            #expect(
                !(failed.standardOutput + done.standardOutput + both.standardError).contains(SimulatedIdentity.password)
            )
            withExtendedLifetime(running) {}
        }
    }

    @Test("an answer of another sign-in is reported while the right one is awaited, and named at the end")
    func foreign() async throws {
        try await withTemporaryFolder { folder in
            let maker = try await BrowserMaker(folder, HostedPage())
            let child = try await maker.login([
                "--idp", "github", "--redirect", "loopback", "--no-browser", "--events", "ndjson", "--timeout", "20s",
            ])
            defer { child.kill() }
            let address = try await BrowserMaker.address(in: child)
            let start = try #require(address.firstRange(of: "redirect_uri=http%3A%2F%2F127.0.0.1%3A"))
            let port = address[start.upperBound...].prefix { $0.isNumber }
            let page = try await CurlHTTPClient().send(
                HTTPRequest(method: .get, url: "http://127.0.0.1:\(port)/callback?code=c&state=wrong"))
            #expect(page.status == 400)
            let outcome = try await maker.end(of: child)
            #expect(outcome.status == 77, "\(outcome.standardOutput)")
            let told = try lines(outcome.standardOutput)
            #expect(told.map(\.state) == ["started", "page_shown", "answer_not_accepted", "sign_in_failed", "ended"])
            #expect(outcome.standardError.contains("warning: An answer of a sign-in page was not accepted"))
            #expect(outcome.standardOutput.contains("\"reason\":\"untrusted_answer\""))
            #expect(outcome.standardOutput.contains("the state is not the one that was sent"))
        }
    }
}
