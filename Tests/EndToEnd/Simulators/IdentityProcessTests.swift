// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// `cloud-sim identity` as a program.
@Suite struct IdentityProcessTests {
    private static let providers = ["spid", "liferay", "oclc", "oidc", "neo"]

    private static func curl(_ arguments: [String]) async throws -> String {
        let finished = try await run("curl", ["-s", "--noproxy", "*", "--max-time", "10"] + arguments)
        #expect(finished.status == .exited(0), "\(finished.standardError)")
        return finished.standardOutput
    }

    @Test("without a choice all are there, each on its own port; a signal ends them")
    func all() async throws {
        try await withChildProcess(try Executables.path("cloud-sim"), ["identity"]) { child in
            let ready = try JSONValue(parsing: Array(try await child.readyLine().utf8))
            #expect(ready["ready"] == true && ready["providers"]?.members?.map(\.name) == Self.providers)
            let addresses = ready["providers"]?.members?.compactMap(\.value.string) ?? []
            #expect(Set(addresses).count == Self.providers.count)
            for address in addresses {
                #expect(try await Self.curl(["-o", "/dev/null", "-w", "%{http_code}", address + "/nothing"]) == "404")
            }
            #expect(try await child.terminate(SIGTERM) == .exited(0))
            #expect(child.standardError == "")
        }
    }

    @Test(
        "its clock moves the Date of answers and the lifetimes, for one provider alone, and the journal says who was asked"
    )
    func clock() async throws {
        try await withTemporaryFolder { folder in
            let identity = try await SimulatedIdentity.start("spid", "neo", in: folder)
            let (spid, neo) = (try identity.url("spid"), try identity.url("neo"))
            let form = "grant_type=client_credentials&client_id=app-1&client_secret=app-1-secret"
            let tokens = try JSONValue(parsing: Array(try await Self.curl(["-d", form, spid + "/oauth/token"]).utf8))
            let bearer = ["-H", "Authorization: Bearer \(tokens["access_token"]?.string ?? "")", spid + "/api/2/terms"]
            #expect(try await Self.curl(bearer).contains("SPP Container"))
            // Two thousand days on.
            _ = try await Self.curl(["-d", "{\"offset\":172800000}", spid + "/_sim/clock"])
            #expect(try await Self.curl(bearer).contains("expired_token"))
            let years = try await [spid, neo].asyncMap { address in
                let head = try await Self.curl(["-D", "-", "-o", "/dev/null", address + "/nothing"])
                let date = head.split(separator: "\r\n").first { $0.hasPrefix("Date: ") }
                return Int(date?.split(separator: " ").dropFirst(4).first ?? "") ?? 0
            }
            #expect(years[0] >= years[1] + 5)
            let control = try identity.journal.entries(where: ["event": "control", "what": "clock"])
            #expect(control.count == 1 && control.first?["provider"] == "spid")
            try await identity.process.terminate()
        }
    }

    @Test("wrong options, a taken port and a journal that cannot be written have their exit codes")
    func failures() async throws {
        let program = try Executables.path("cloud-sim")
        let identity = try await withChildProcess(program, ["identity", "--provider", "neo"]) { child in
            let ready = try JSONValue(parsing: Array(try await child.readyLine().utf8))
            let port = ready["providers"]?["neo"]?.string?.split(separator: ":").last ?? ""
            let taken = try await run(
                program, ["identity", "--provider", "neo", "--listen", "127.0.0.1:\(port)"])
            try await child.terminate()
            return taken
        }
        #expect(identity.status == .exited(69) && identity.standardError.contains("cannot listen"))
        for (arguments, code) in [
            (["--provider", "nonsense"], 64), (["--listen", "127.0.0.1:8080"], 64),
            (["--provider", "neo", "--provider", "neo"], 64), (["--journal", "/nonexistent/journal"], 74),
        ] {
            let finished = try await run(program, ["identity"] + arguments)
            #expect(finished.status == .exited(code) && !finished.standardError.isEmpty, "\(arguments)")
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ change: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await change(element)) }
        return results
    }
}
