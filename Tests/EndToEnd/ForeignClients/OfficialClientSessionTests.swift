// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// Sessions that Espressif's own client and rainctl hand to each other, against the simulated cloud.
@Suite("The official client's sessions")
struct OfficialClientSessionTests {
    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test("a session of its own is taken over with its deployment, and nothing changes there")
    func imported() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let client = try await OfficialClient(api: cloud.api, in: folder)
            try await client.logIn()
            let before = try readFile(client.sessionFile)
            let maker = try Maker(folder)
            let signIns = try cloud.journal.entries(where: ["path": "/v1/login2"]).count
            let imported = try await maker.rainctl("account", "import", "--from", client.configuration, "--json")
            #expect(imported.status == 0, "\(imported.standardOutput)")
            #expect(imported.document?["profile"] == "sim")
            #expect(imported.document?["base_url"] == .string(cloud.api))
            #expect(imported.document?["account"] == .string(SimulatedCloud.user))
            #expect(try readFile(client.sessionFile) == before)
            // The variable of that client's leads there too.
            let byVariable = try await maker.rainctl(
                ["account", "import"], environment: ["RM_USER_CONFIG_DIR": client.configuration])
            #expect(byVariable.status == 0)

            let who = try await maker.rainctl("whoami", "--profile", "sim", "--json")
            #expect(who.document?["user_name"] == .string(SimulatedCloud.user))
            #expect(try await maker.rainctl("account", "refresh", "--profile", "sim").status == 0)
            #expect(try cloud.journal.entries(where: ["path": "/v1/login2"]).count == signIns + 1, "one renewal")
            // Both go on.
            let info = try await client.run(["getuserinfo"])
            #expect(info.standardOutput.contains(SimulatedCloud.user))
        }
    }

    @Test("its regions are the deployments that are built in here", arguments: ["china", "global"])
    func regions(region: String) async throws {
        try await withTemporaryFolder { folder in
            let client = try await OfficialClient(api: "http://127.0.0.1:1", in: folder)
            let before = try await client.run(["profile", "current"]).standardOutput
            #expect(before.contains("Current profile: sim"), "\(before)")
            try await client.run(["configure", "--region", region])
            let current = try await client.run(["profile", "current"]).standardOutput
            #expect(current.contains("Current profile: \(region)"), "\(current)")
            let profiles = try await Maker(folder).rainctl("profile", "list", "--json").document?["profiles"]?.array
            let ours = profiles?.first { $0["profile"]?.string == region }?["base_url"]?.string
            let base = try #require(ours, "\(String(describing: profiles))")
            #expect(current.contains("Host: \(base)/v1/"), "\(current)")
        }
    }

    @Test("says its version, and forgets a profile")
    func forgotten() async throws {
        try await withTemporaryFolder { folder in
            let client = try await OfficialClient(api: "http://127.0.0.1:1", in: folder)
            #expect(try await client.run(["version"]).standardOutput.contains("1.14.1"))
            #expect(try await client.run(["profile", "list"]).standardOutput.contains("sim"))
            try await client.run(["configure", "--region", "global"])
            try await client.run(["profile", "remove", "sim"], input: .text("y\n"))
            let left = try await client.run(["profile", "list"]).standardOutput
            #expect(left.contains("global") && !left.contains("sim"), "\(left)")
        }
    }

    @Test("it uses a session that rainctl wrote for it, in private files")
    func exported() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            // A place where its profile is not yet known, and one that it has made itself.
            let client = try await OfficialClient(api: cloud.api, in: folder, addsProfile: false)
            for round in 1...2 {
                let exported = try await maker.rainctl("account", "export", "--to", client.configuration)
                #expect(exported.status == 0, "\(exported.standardError)")
                for file in ["sim_config.json", "profiles.json", "current_profile"] {
                    #expect(mode("\(client.configuration)/profiles/\(file)") == 0o600, "\(file)")
                }
                let info = try await client.run(["getuserinfo"])
                #expect(
                    info.standardOutput.contains(SimulatedCloud.user), "\(info.standardOutput) \(info.standardError)")
                let asUser = try cloud.journal.entries(where: [
                    "event": "request", "path": "/v1/user", "user": .string(SimulatedCloud.user), "status": 200,
                ])
                #expect(asUser.count == round)
            }
            let profiles = try await client.run(["profile", "list"])
            #expect(profiles.standardOutput.contains("sim") && profiles.standardOutput.contains("global"))
            // And back again.
            let back = try Maker(TemporaryFolder())
            let imported = try await back.rainctl("account", "import", "--from", client.configuration, "--json")
            #expect(imported.document?["user_name"] == .string(SimulatedCloud.user))
            #expect(imported.standardError.contains("note: ") && !imported.standardError.contains("warning: "))
        }
    }
}
