// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import rainctl

/// Browsers and the desktop's helpers live long, and anybody's extension runs in them.
@Suite("The programs that rainctl starts")
struct StartedProgramTests {
    /// Every variable that a secret is read from; the last is named by a provider's definition.
    private static let planted = [
        "ESP_RAINMAKER_PASSWORD", "RAINKIT_POP", "RAINKIT_PASSPHRASE", "RAINKIT_CLIENT_SECRET", "COMPANY_SECRET",
    ]

    /// A program that says what it inherited to whoever reads `inherited`.
    private func plant(_ name: String, in folder: TemporaryFolder) async throws {
        try folder.write("#!/bin/sh\nenv >'\(folder.file("inherited"))'\n", to: name)
        #expect(chmod(folder.file(name), 0o755) == 0)
        #expect(mkfifo(folder.file("inherited"), 0o600) == 0)
        try folder.makeFolder("config/rainkit/providers")
        try folder.write(
            #"{"schemaVersion":1,"id":"company","extends":"oidc","client":{"secretEnvironment":"COMPANY_SECRET"}}"#,
            to: "config/rainkit/providers/company.json")
    }

    private var environment: [String: String] {
        var environment = ["KEPT": "kept"]
        for name in Self.planted { environment[name] = "planted-in-\(name)" }
        return environment
    }

    private func expectNoSecrets(_ folder: TemporaryFolder) async throws {
        let inherited = try await run("cat", [folder.file("inherited")]).standardOutput
        #expect(inherited.contains("KEPT=kept"))
        #expect(inherited.split(separator: "\n").filter { $0.contains("planted-in-") } == [])
    }

    @Test("the planted variables are all that there are")
    func complete() {
        #expect(Set(SecretVariable.allCases.map(\.rawValue)).union(["COMPANY_SECRET"]) == Set(Self.planted))
    }

    @Test("a browser inherits the environment without the secrets in it")
    func browser() async throws {
        try await withTemporaryFolder { folder in
            var maker = try await BrowserMaker(folder, HostedPage())
            try await plant("browser", in: folder)
            maker.environment.merge(environment) { $1 }
            maker.environment["BROWSER"] = folder.file("browser")
            let child = try await maker.login(["--idp", "github", "--redirect", "loopback"])
            defer { child.kill() }
            try await expectNoSecrets(folder)
        }
    }

    @Test("so does xdg-mime, which registers the handler of a scheme")
    func schemeHandler() async throws {
        try await withTemporaryFolder { folder in
            let page = try HostedPage()
            var maker = try await BrowserMaker(folder, page)
            let added = try await maker.maker.rainctl(
                ["profile", "add", "desk", "--scheme-redirect", "com.example.rainkit:/cb"] + page.profile)
            #expect(added.status == 0, "\(added.standardError)")
            try await plant("xdg-mime", in: folder)
            try folder.makeFolder("run")
            maker.environment.merge(environment) { $1 }
            maker.environment["PATH"] = "\(folder.path):/usr/bin:/bin"
            maker.environment["XDG_RUNTIME_DIR"] = folder.file("run")
            maker.environment["XDG_DATA_HOME"] = folder.file("data")
            let child = try await maker.login(
                ["--profile", "desk", "--idp", "github", "--redirect", "scheme", "--no-browser"])
            defer { child.kill() }
            try await expectNoSecrets(folder)
        }
    }

    @Test("so does curl")
    func curl() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud)
            try await plant("curl", in: folder)
            let child = try await maker.start(
                ["account", "curl", "--", "-s", "/v1/user2"],
                environment: environment.merging(["PATH": "\(folder.path):/usr/bin:/bin"]) { $1 })
            defer { child.kill() }
            try await expectNoSecrets(folder)
        }
    }
}
