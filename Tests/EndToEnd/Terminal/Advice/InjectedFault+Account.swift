// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainHTTP
import RainJSON
import TestSupport

/// What can be wrong between the machine and the account.
extension InjectedFault {
    static let ofAccounts: [InjectedFault] = [
        server(.refuse, "a port on which nothing listens", "cannot be reached|refused|connect"),
        server(.hang, "a silent server", "did not answer", known: .silence(3)),
        server(.noName, "a host name that does not exist", "name|resolve"),
        server(.tls(.unknownAuthority), "a certificate from an unknown authority", "certificate"),
        server(.tls(.expired), "a certificate that has expired", "expired"),
        server(.tls(.otherHost), "a certificate for another host", "another name"),
        server(
            .raw {
                _ = $0.read(9); $0.write("HTTP/1.1 400 Bad Request\r\n\r\n"); $0.waitForClose()
            }, "plain HTTP on the https port", "does not speak TLS"),
        server(
            .raw {
                $0.write("SSH-2.0-OpenSSH_9.2\r\n"); $0.waitForClose()
            }, "another protocol on the https port", "does not speak TLS"),
        InjectedFault("cloud", "a certificate from an authority outside the given file", "(from RAINKIT_CA_FILE)") {
            lab in
            let server = try await FaultyServer.start(.tls(.unknownAuthority), in: lab.folder)
            let other = try TemporaryFolder()
            try await ServerCertificate(names: "IP:127.0.0.1").issue(in: other)
            try await lab.use(server.base)
            let outcome = try await lab.rainctl(
                "login", "me@example.com", "--password-file", lab.folder.file("password"),
                environment: ["RAINKIT_CA_FILE": other.file("ca.pem")])
            withExtendedLifetime(server) {}
            return outcome
        },
        server(
            .raw { _ = $0.read(4096) }, "a connection that is closed when TLS begins",
            "a port that does not speak TLS"),
        server(.raw { tlsAlert(70, $0) }, "a TLS version that is too old", "only old versions of TLS"),
        server(.raw { tlsAlert(116, $0) }, "a server that requires a client certificate", "client certificate"),
        server(.proxy(nil), "a proxy that does not run", "the proxy"),
        server(
            .proxy {
                _ = $0.readRequest(); $0.respond("407 Proxy Authentication Required")
            }, "a proxy that requires a password", "user name and a password"),
        server(
            .proxy {
                _ = $0.readRequest(); $0.respond("403 Forbidden")
            }, "a proxy that refuses the request", "the proxy"),
        server(
            .proxy {
                _ = $0.readRequest(); $0.respond("502 Bad Gateway")
            }, "a proxy that cannot reach the cloud", "the proxy"),
        server(.proxy { _ = $0.readRequest() }, "a proxy that closes the connection", "the proxy"),
        server(
            .proxy {
                _ = $0.readRequest(); $0.respond("405 Method Not Allowed")
            }, "a web server instead of a proxy", "is probably not a proxy"),
        server(
            .socks {
                _ = $0.read(4096); $0.write([5, 0]); _ = $0.read(4096); $0.write([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])
                $0.waitForClose()
            }, "a SOCKS proxy that cannot reach the cloud", "cannot reach that host"),
        server(answer(511), "a network that requires a sign-in (HTTP 511)", "requires a sign-in"),
        server(answer(451), "a service that is blocked for legal reasons", "legal reasons"),
        server(answer(410), "a service that no longer exists", "no longer"),
        server(answer(403, "<html><title>Blocked</title></html>"), "a firewall's page", "a firewall or proxy"),
        server(answer(200, "abc", encoding: "gzip"), "an encoding that was not requested", "encoding"),
        server(answer(404, #"{"message":"Not Found"}"#), "another service's base URL", "no RainMaker API"),
        server(answer(200, #"{"portal":true}"#), "another service's JSON", "not from a RainMaker cloud"),
        cloudFault(
            "an internal fault of the cloud", "503|fault|error",
            rule: ["path": "/v1/*", "action": "status", "status": 503]),
        cloudFault(
            "too many requests", "received too many requests",
            rule: ["path": "/v1/*", "action": "status", "status": 429]),
        cloudFault(
            "a redirect to the network's sign-in page", "page|HTML|redirect|JSON|302",
            rule: ["path": "/v1/*", "action": "status", "status": 302, "location": "http://portal.example/"]),
        cloudFault("a web page instead of an answer", "JSON|page", rule: ["path": "/v1/*", "action": "html"]),
        cloudFault(
            "an answer that is cut off", "cut|broke|closed|connection", rule: ["path": "/v1/*", "action": "cut"]),
        cloudFault(
            "a connection that breaks", "reset|broke|closed|connection", rule: ["path": "/v1/*", "action": "reset"]),
        InjectedFault("account", "nobody is signed in", "signed in") { try await $0.rainctl("node", "list") },
        InjectedFault("account", "a sign-out of a user without a session", "there is no session to end", cloud: true) {
            try await $0.rainctl("logout", "--account", "bob@example.com")
        },
        command(
            "account", "a password that is a line of variables", "NAME=value", cloud: true,
            files: ["variables": "PASSWORD=planted"],
            ["login", SimulatedCloud.user, "--password-file", "{}/variables"]),
        InjectedFault("account", "a wrong password", "password", cloud: true) {
            try await $0.rainctl("login", SimulatedCloud.user, "--password-file", $0.folder.file("wrong"))
        },
        InjectedFault("account", "an unknown user", "user", cloud: true) {
            try await $0.rainctl("login", "nobody@example.com", "--password-file", $0.folder.file("password"))
        },
        InjectedFault("account", "an unknown deployment", "nope") {
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
        InjectedFault("machine", "a session folder that others may write to", "write", cloud: true) { lab in
            chmod(lab.folder.file("state/rainkit"), 0o777)
            return try await lab.rainctl("login", SimulatedCloud.user, "--password-file", lab.folder.file("password"))
        },
        InjectedFault("machine", "a damaged session file", "session", cloud: true) { lab in
            lab.folder.writePrivately(Array("{".utf8), to: Maker.sessionFile)
            return try await lab.rainctl("whoami")
        },
        InjectedFault("machine", "a damaged list of deployments", "deployments") { lab in
            try lab.folder.makeFolder("config/rainkit")
            chmod(lab.folder.file("config/rainkit"), 0o700)
            lab.folder.writePrivately(Array("{".utf8), to: "config/rainkit/deployments.json")
            return try await lab.rainctl("profile", "list")
        },
        InjectedFault("machine", "a missing certificate file", "certificate", "authorities", "CA") {
            try await $0.rainctl(
                "login", "me@example.com", "--password-file", $0.folder.file("password"), "--ca-file",
                $0.folder.file("no.pem"))
        },
        InjectedFault("machine", "a missing file with a password", "no-such-file") {
            try await $0.rainctl("login", "me@example.com", "--password-file", $0.folder.file("no-such-file"))
        },
    ]

    private static func answer(_ status: Int, _ body: String = "", encoding: String? = nil) -> FaultyServer.Behaviour {
        .answer(
            HTTPResponse(
                status: status, headers: encoding.map { [HTTPHeader("Content-Encoding", $0)] } ?? [],
                body: Array(body.utf8)))
    }

    /// Reads the client's hello and refuses it.
    @Sendable private static func tlsAlert(_ number: UInt8, _ peer: LoopbackPeer) {
        _ = peer.read(4096)
        peer.write([21, 3, 3, 0, 2, 2, number])
        peer.waitForClose()
    }

    private static func cloudFault(_ name: String, _ words: String, rule: JSONValue) -> InjectedFault {
        InjectedFault("cloud", name, words, cloud: true) { lab in
            try await lab.fails(rule)
            return try await lab.rainctl("node", "list", "--timeout", "60")
        }
    }

    private static func server(
        _ behaviour: FaultyServer.Behaviour, _ name: String, _ words: String, known evidence: Evidence = .start
    ) -> InjectedFault {
        InjectedFault("cloud", name, words, known: evidence) { lab in
            let server = try await FaultyServer.start(behaviour, in: lab.folder)
            _ = try await lab.maker.rainctl(["profile", "add", "faulty", "--base-url", server.base])
            _ = try await lab.maker.rainctl(["profile", "use", "faulty"])
            // Only a silent server uses up its time.
            let limit = if case .silence(let seconds) = evidence { "\(Int(seconds))" } else { "60" }
            let outcome = try await lab.rainctl(
                "login", "me@example.com", "--password-file", lab.folder.file("password"), "--timeout", limit,
                environment: server.environment)
            withExtendedLifetime(server) {}
            return outcome
        }
    }
}
