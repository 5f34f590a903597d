// SPDX-License-Identifier: Apache-2.0
import RainAccount
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

    @Test(
        "a missing program in $BROWSER is detected before it is run",
        arguments: [
            (nil, nil), ("", nil), ("/nonexistent/firefox", "/nonexistent/firefox"), ("firefox:w3m", "firefox"),
            ("/nonexistent/firefox:/bin/sh", nil), ("/nonexistent/x %s --new", "/nonexistent/x"),
        ] as [(String?, String?)])
    func missingProgram(variable: String?, missing: String?) {
        var environment = ["PATH": "/nonexistent"]
        environment["BROWSER"] = variable
        #expect(BrowserLauncher(environment: environment).missingProgram == missing)
    }

    @Test("only web addresses are opened", arguments: ["file:///etc/passwd", "javascript:x", "-x", ""])
    func otherSchemes(url: String) async {
        #expect(await !BrowserLauncher(environment: ["BROWSER": "/bin/true"]).open(url))
    }

    @Test(
        "a browser is not visible to the user",
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
