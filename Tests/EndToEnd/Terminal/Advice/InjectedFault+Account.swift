// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport

/// What can be wrong between the machine and the account.
extension InjectedFault {
    static let ofAccounts: [InjectedFault] = [
        server(.refuse, "nobody listens", "cannot be reached|refused|connect"),
        server(.hang, "the server is silent", "did not answer", known: .silence(3)),
        server(.noName, "no such name", "name|resolve"),
        server(.tls(.unknownAuthority), "a certificate of an unknown authority", "certificate"),
        server(.tls(.expired), "a certificate that has expired", "expired"),
        server(.tls(.otherHost), "a certificate of another host", "does not match|subject name"),
        cloudFault(
            "a fault of the cloud", "503|fault|error", rule: ["path": "/v1/*", "action": "status", "status": 503]),
        cloudFault(
            "too many requests", "slow down",
            rule: ["path": "/v1/*", "action": "status", "status": 429]),
        cloudFault(
            "a sign-in page of the network", "page|HTML|redirect|JSON|302",
            rule: ["path": "/v1/*", "action": "status", "status": 302, "location": "http://portal.example/"]),
        cloudFault("a page in the place of an answer", "JSON|page", rule: ["path": "/v1/*", "action": "html"]),
        cloudFault("half of an answer", "cut|broke|closed|connection", rule: ["path": "/v1/*", "action": "cut"]),
        cloudFault(
            "the connection breaks", "reset|broke|closed|connection", rule: ["path": "/v1/*", "action": "reset"]),
        InjectedFault("account", "nobody is signed in", "signed in") { try await $0.rainctl("node", "list") },
        InjectedFault("account", "a wrong password", "password", cloud: true) {
            try await $0.rainctl("login", SimulatedCloud.user, "--password-file", $0.folder.file("wrong"))
        },
        InjectedFault("account", "an unknown user", "user", cloud: true) {
            try await $0.rainctl("login", "nobody@example.com", "--password-file", $0.folder.file("password"))
        },
        InjectedFault("account", "a profile that nobody added", "nope") {
            try await $0.rainctl("node", "list", environment: ["RAINKIT_PROFILE": "nope"])
        },
        InjectedFault("account", "a board that is not in the account", "n-of-somebody", cloud: true) {
            try await $0.rainctl("node", "show", "n-of-somebody")
        },
        InjectedFault(
            "account", "a board without a certificate, and no claim service", "claim", "certificate", cloud: true
        ) {
            lab in
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1"] + (lab.cloud?.unclaimedBoardOptions ?? []), in: lab.folder)
            return try await lab.timed(
                ["provision"] + Maker.way(to: board) + board.consent + [
                    "--pop-file", lab.folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    lab.folder.file("wifi"),
                ])
        },
        InjectedFault("machine", "others may write where sessions are kept", "write", cloud: true) { lab in
            chmod(lab.folder.file("state/rainkit"), 0o777)
            return try await lab.rainctl("login", SimulatedCloud.user, "--password-file", lab.folder.file("password"))
        },
        InjectedFault("machine", "the file of a session is damaged", "session", cloud: true) { lab in
            lab.folder.writePrivately(Array("{".utf8), to: Maker.sessionFile)
            return try await lab.rainctl("whoami")
        },
        InjectedFault("machine", "the file of profiles is damaged", "deployments") { lab in
            try lab.folder.makeFolder("config/rainkit")
            chmod(lab.folder.file("config/rainkit"), 0o700)
            lab.folder.writePrivately(Array("{".utf8), to: "config/rainkit/deployments.json")
            return try await lab.rainctl("profile", "list")
        },
        InjectedFault("machine", "a file of certificates that is not there", "certificate", "authorities", "CA") {
            try await $0.rainctl(
                "login", "me@example.com", "--password-file", $0.folder.file("password"), "--ca-file",
                $0.folder.file("no.pem"))
        },
        InjectedFault("machine", "a file with a secret that is not there", "no-such-file") {
            try await $0.rainctl("login", "me@example.com", "--password-file", $0.folder.file("no-such-file"))
        },
    ]

    private static func cloudFault(_ name: String, _ words: String, rule: JSONValue) -> InjectedFault {
        InjectedFault("cloud", name, words, cloud: true) { lab in
            try await lab.fails(rule)
            return try await lab.rainctl("node", "list", "--timeout", "3")
        }
    }

    private static func server(
        _ behaviour: FaultyServer.Behaviour, _ name: String, _ words: String, known evidence: Evidence = .start
    ) -> InjectedFault {
        InjectedFault("cloud", name, words, known: evidence) { lab in
            let server = try await FaultyServer.start(behaviour, in: lab.folder)
            _ = try await lab.maker.rainctl(["profile", "add", "faulty", "--base-url", server.base])
            _ = try await lab.maker.rainctl(["profile", "use", "faulty"])
            let outcome = try await lab.rainctl(
                "login", "me@example.com", "--password-file", lab.folder.file("password"), "--timeout", "3",
                environment: server.authorities.map { ["RAINKIT_CA_FILE": $0] } ?? [:])
            withExtendedLifetime(server) {}
            return outcome
        }
    }
}
