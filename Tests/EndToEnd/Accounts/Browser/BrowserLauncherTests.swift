// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import TestSupport
import Testing

@Suite("Starting a browser")
struct BrowserLauncherTests {
    @Test("the first program that failed is named with its exit code")
    func failure() async {
        let launcher = BrowserLauncher(environment: ["BROWSER": "/bin/false", "PATH": "/nonexistent"])
        #expect(
            await launcher.opening("https://a.example/")
                == .failed("/bin/false (from BROWSER) failed with exit code 1"))
    }

    @Test("the browser gets the address, the environment that it is given and no other, and its own session")
    func started() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(
                "#!/bin/sh\necho \"$@\" > '\(folder.file("arguments"))'\nenv > '\(folder.file("environment"))'\nps -o sid= -p $$ > '\(folder.file("session"))'\npwd > '\(folder.file("place"))'\n",
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
            #expect(try folder.read("place") == "/\n", "it loads nothing from the folder in which we were started")
        }
    }

    @Test("a browser that fails or is missing is reported; one that keeps running has opened")
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
}
