// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl profile")
struct ProfileTests {
    private func origin(_ outcome: Maker.Outcome, _ key: String) -> JSONValue? { outcome.document?["origins"]?[key] }
    private func value(_ outcome: Maker.Outcome, _ key: String) -> JSONValue? { outcome.document?[key] }

    @Test("an option goes before the environment, the environment before the file, the file before what is built in")
    func origins() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let show = ["profile", "show", "--origin", "--json"]
            let builtIn = try await maker.rainctl(show)
            #expect(value(builtIn, "profile") == "global" && origin(builtIn, "profile") == "built in")
            #expect(value(builtIn, "base_url") == "https://api.rainmaker.espressif.com")
            #expect(builtIn.document?["ca_file"] == nil)
            // What is a text stays one.
            let plain = try await maker.rainctl("profile", "show", "--json")
            #expect(value(plain, "profile") == "global" && plain.document?["origins"] == nil)
            let authorities = folder.file("ca.pem")
            try folder.write("", to: "ca.pem")
            for name in ["lab", "shop"] {
                let added = try await maker.rainctl(
                    "profile", "add", name, "--base-url", "https://\(name).example.com", "--claim-url",
                    "https://claim.example.com", "--auth-url", "https://auth.example.com", "--client-id", "client",
                    "--ca-file", authorities)
                #expect(added.status == 0)
            }
            let file = JSONValue.string("file \(folder.file("config/rainkit/deployments.json"))")
            let used = try await maker.rainctl("profile", "use", "lab", "--json")
            #expect(used.status == 0 && used.document?["profile"] == "lab", "\(used.standardOutput)")
            let byFile = try await maker.rainctl(show)
            #expect(value(byFile, "profile") == "lab" && origin(byFile, "profile") == file)
            for (key, text) in [
                ("base_url", "https://lab.example.com"), ("claim_url", "https://claim.example.com"),
                ("auth_url", "https://auth.example.com"), ("client_id", "client"), ("ca_file", authorities),
            ] {
                #expect(value(byFile, key) == .string(text) && origin(byFile, key) == file, "\(key)")
            }
            let environment = ["RAINKIT_PROFILE": "shop", "RAINKIT_CA_FILE": "/other.pem", "RAINKIT_ACCOUNT": "me"]
            let byVariable = try await maker.rainctl(show, environment: environment)
            #expect(value(byVariable, "profile") == "shop")
            #expect(origin(byVariable, "profile") == "environment RAINKIT_PROFILE")
            #expect(value(byVariable, "ca_file") == "/other.pem")
            #expect(origin(byVariable, "account") == "environment RAINKIT_ACCOUNT")
            let byOption = try await maker.rainctl(
                show + ["--profile", "global", "--ca-file", "/third.pem", "--account", "you"], environment: environment)
            #expect(value(byOption, "profile") == "global" && origin(byOption, "profile") == "option --profile")
            #expect(value(byOption, "ca_file") == "/third.pem" && origin(byOption, "ca_file") == "option --ca-file")
            #expect(value(byOption, "account") == "you" && origin(byOption, "account") == "option --account")
            let named = try await maker.rainctl("profile", "show", "shop")
            #expect(named.standardOutput.contains("https://shop.example.com"))
            #expect(try await maker.rainctl("profile", "show", "nowhere").status == 78)
        }
    }

    @Test("looking for boards needs no profile")
    func boardsWithoutProfile() async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Maker(folder).rainctl(
                "device", "discover", "--transport", "serial", "--profile", "nowhere")
            #expect(outcome.status == 0)
        }
    }

    @Test("a CA file with a relative path is found from every folder")
    func relativeAuthorities() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            try folder.makeFolder("certificates")
            try folder.write("", to: "certificates/ca.pem")
            let added = try await run(
                Executables.path("rainctl"),
                ["profile", "add", "lab", "--base-url", "https://lab.example.com", "--ca-file", "ca.pem"],
                environment: maker.environment, directory: folder.file("certificates"))
            #expect(added.status == .exited(0), "\(added.standardError)")
            let shown = try await maker.rainctl("profile", "show", "lab", "--origin", "--json")
            #expect(value(shown, "ca_file") == .string(folder.file("certificates/ca.pem")))
        }
    }

    @Test("a CA file that cannot be opened is refused, and nothing is added")
    func absentAuthorities() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let add = ["profile", "add", "lab", "--base-url", "https://lab.example.com", "--json", "--ca-file"]
            for path in [folder.file("absent.pem"), folder.path] {
                let outcome = try await maker.rainctl(add + [path])
                #expect(outcome.status == 65, "\(outcome.standardOutput)")
                #expect(outcome.failure?["code"] == "bad_data")
                #expect(outcome.failure?["message"]?.string?.contains(path) == true)
            }
            #expect(try await maker.rainctl("profile", "show", "lab").status == 78)
        }
    }

    @Test("a deployment is removed, and global is used if it was the one in use; Espressif's own stay")
    func remove() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            #expect(
                try await maker.rainctl("profile", "add", "lab", "--base-url", "https://lab.example.com").status == 0)
            #expect(try await maker.rainctl("profile", "use", "lab").status == 0)
            #expect(try await maker.rainctl("profile", "remove", "lab").status == 0)
            let list = try await maker.rainctl("profile", "list", "--json").document?["profiles"]?.array
            #expect(list?.map { $0["profile"] } == ["global", "china"])
            #expect(list?.map { $0["current"] } == [true, false])
            for name in ["lab", "global"] {
                #expect(try await maker.rainctl("profile", "remove", name).status == 78)
            }
        }
    }

    @Test("a deployment where somebody is signed in is not removed under their feet")
    func inUse() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            let refused = try await bench.maker.rainctl("profile", "remove", "sim", "--json")
            #expect(refused.status == 64)
            #expect(refused.failure?["reason"] == "in_use")
            #expect(try await bench.maker.rainctl("logout").status == 0)
            #expect(try await bench.maker.rainctl("profile", "remove", "sim").status == 0)
        }
    }
}
