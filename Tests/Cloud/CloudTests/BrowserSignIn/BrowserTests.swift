// SPDX-License-Identifier: Apache-2.0
import BrowserSignIn
import Glibc
import TestSupport
import Testing

@Suite("Opening a browser")
struct BrowserTests {
    @Test(
        "$BROWSER is a list in which %s stands for the address; xdg-open comes last",
        arguments: [
            (nil, [["xdg-open", "URL"]]), ("", [["xdg-open", "URL"]]),
            ("firefox", [["firefox", "URL"], ["xdg-open", "URL"]]),
            (
                "chromium --incognito %s:w3m",
                [["chromium", "--incognito", "URL"], ["w3m", "URL"], ["xdg-open", "URL"]]
            ),
            (":: ", [["xdg-open", "URL"]]),
        ] as [(String?, [[String]])])
    func commands(variable: String?, commands: [[String]]) {
        let launcher = BrowserLauncher(environment: variable.map { ["BROWSER": $0] } ?? [:])
        #expect(launcher.commands(for: "URL") == commands)
    }

    @Test("the browser gets the address, the environment that it is given and no other, and a session of its own")
    func started() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(
                "#!/bin/sh\necho \"$@\" > '\(folder.file("arguments"))'\nenv > '\(folder.file("environment"))'\nps -o sid= -p $$ > '\(folder.file("session"))'\n",
                to: "browser")
            #expect(chmod(folder.file("browser"), 0o755) == 0)
            let launcher = BrowserLauncher(environment: [
                "BROWSER": folder.file("browser"), "PATH": currentEnvironment()["PATH"] ?? "", "KEPT": "kept",
            ])
            #expect(await launcher.open("https://a.example/?x=1&y=$(touch /tmp/x);2"))
            #expect(try folder.read("arguments") == "https://a.example/?x=1&y=$(touch /tmp/x);2\n")
            #expect(try folder.read("environment").contains("KEPT=kept"))
            #expect(!(try folder.read("environment").contains("HOME=")))
            let session = Int32(try folder.read("session").split(separator: "\n")[0].split(separator: " ")[0])
            #expect(session != nil && session != getsid(0))
        }
    }

    @Test("a browser that fails, or is absent, is told; one that goes on running has opened")
    func outcomes() async throws {
        func opens(_ variable: String) async -> Bool {
            // An empty PATH: there is no xdg-open to fall back on.
            await BrowserLauncher(environment: ["BROWSER": variable, "PATH": "/nonexistent"]).open("https://a.example/")
        }
        #expect(await opens("/bin/true"))
        #expect(await !opens("/bin/false"))
        #expect(await !opens("/nonexistent/browser"))
        #expect(await opens("/nonexistent/browser:/bin/true"))
    }

    @Test("only web addresses are opened", arguments: ["file:///etc/passwd", "javascript:x", "-x", ""])
    func otherSchemes(url: String) async {
        #expect(await !BrowserLauncher(environment: ["BROWSER": "/bin/true"]).open(url))
    }

    @Test(
        "where no browser is to be seen",
        arguments: [
            (["DISPLAY": ":0"], "", nil, true), (["WAYLAND_DISPLAY": "wayland-0"], "", nil, true),
            ([:], "", .noDisplay, false), (["DISPLAY": ""], "", .noDisplay, false),
            (["DISPLAY": ":0", "SSH_CONNECTION": "a"], "", .ssh, false),
            (["DISPLAY": "localhost:10.0", "SSH_TTY": "/dev/pts/1"], "", .ssh, false),
            (["DISPLAY": ":0"], "/.dockerenv", .container, false),
            (["DISPLAY": ":0"], "/run/.containerenv", .container, false),
            (["DISPLAY": ":0", "container": "lxc"], "", .container, false),
            (["CODESPACES": "true"], "", .container, false),
            (["BROWSER": "/opt/helper"], "/.dockerenv", .container, true), (["BROWSER": "w3m"], "", .noDisplay, true),
        ] as [([String: String], String, DesktopSession.Obstacle?, Bool)])
    func desktop(environment: [String: String], file: String, obstacle: DesktopSession.Obstacle?, opens: Bool) {
        let session = DesktopSession(environment: environment) { $0 == file }
        #expect(session.obstacle == obstacle)
        #expect(session.opensBrowser == opens)
    }
}
