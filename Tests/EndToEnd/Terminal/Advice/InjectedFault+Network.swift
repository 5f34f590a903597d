// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// What can be wrong with proxies and gateways, and with the content of codes, files and answers.
extension InjectedFault {
    static let ofNetwork: [InjectedFault] = [
        qrCode("a proof that is a number", "pop", #"{"name":"PROV_1","pop":12345678,"transport":"softap"}"#),
        qrCode(
            "a scheme that is text", "security",
            #"{"name":"PROV_1","pop":"planted","security":"2","transport":"softap"}"#),
        answers("a router's page in the place of a board", "not a board", "200 OK", "<html>Router</html>"),
        answers("a redirect in the place of a board", "not a board", "302 Found", headers: ["Location: /login"], ""),
        answers("another project's 404", "not a board", "404 Not Found", "no"),
        InjectedFault("Wi-Fi", "an open network that is none", "open|password") { lab in
            let board = try await lab.board(["--security", "1", "--attempts", "1"])
            return try await lab.provision(Maker.way(to: board), network: ["--ssid", SimulatedBoard.ssid, "--open"])
        },
        passphrase("a passphrase in UTF-16", "UTF-16", [0xFF, 0xFE] + Array("planted-wifi".utf8).flatMap { [$0, 0] }),
        passphrase("a passphrase with a zero byte", "NUL", Array("planted\0wifi".utf8)),
        passphrase("a passphrase of two lines", "line", Array("planted-wifi\nsecond".utf8)),
        status(410, "410|gone|no longer"), status(451, "451|block|legal"), status(511, "sign-in|network|511"),
        served("an answer that is compressed unasked", "encod|compress", headers: ["Content-Encoding: br"], "junk"),
        proxy("a proxy that wants a password", "proxy", "407 Proxy Authentication Required"),
        proxy("a proxy that refuses", "proxy", "403 Forbidden"),
        proxy("a proxy that finds nothing", "proxy", "502 Bad Gateway"),
        InjectedFault("proxy", "a proxy that does not run", "proxy") { lab in
            let port = try LoopbackServer.refusedPort()
            return try await throughProxy(lab, "http://127.0.0.1:\(port)")
        },
        InjectedFault("proxy", "a proxy that does not exist", "proxy") { lab in
            try await throughProxy(lab, "http://proxy.invalid:3128")
        },
        InjectedFault("provider", "a portal of a version that does not exist", "serverVersion") { lab in
            try await lab.rainctl(
                "login", SimulatedIdentity.user, "--provider", "liferay", "--base-url",
                try lab.bench.identity.url("liferay"), "--set",
                "serverVersion=99", "--password-file", lab.bench.folder.file("good"))
        },
    ]

    private static func qrCode(_ name: String, _ words: String, _ text: String) -> InjectedFault {
        provision(
            "QR code", name, words, files: ["code": text], proof: false, "--qrcode", "{}/code", "--device-host",
            "127.0.0.1:9")
    }

    private static func passphrase(_ name: String, _ words: String, _ bytes: [UInt8]) -> InjectedFault {
        InjectedFault("file", name, words) { lab in
            lab.folder.writePrivately(bytes, to: "odd")
            return try await lab.provision(
                ["--transport", "softap", "--device-host", "127.0.0.1:9"],
                network: ["--ssid", "Home", "--passphrase-file", lab.folder.file("odd")])
        }
    }

    private static func answers(
        _ name: String, _ words: String, _ status: String, headers: [String] = [], _ body: String
    ) -> InjectedFault {
        InjectedFault("address", name, words) { lab in
            let server = try LoopbackServer { peer in
                while peer.readRequest() != nil { peer.respond(status, headers: headers, body) }
            }
            return try await lab.provision(["--transport", "softap", "--device-host", "127.0.0.1:\(server.port)"])
        }
    }

    private static func status(_ status: Int, _ words: String) -> InjectedFault {
        InjectedFault("cloud", "HTTP status \(status)", words, cloud: true) { lab in
            try await lab.fails(["path": "/v1/*", "action": "status", "status": .integer(Int64(status))])
            return try await lab.rainctl("node", "list")
        }
    }

    private static func served(_ name: String, _ words: String, headers: [String], _ body: String) -> InjectedFault {
        InjectedFault("cloud", name, words) { lab in
            let server = try LoopbackServer { peer in
                while peer.readRequest() != nil { peer.respond("200 OK", headers: headers, body) }
            }
            try await lab.use("http://127.0.0.1:\(server.port)")
            return try await lab.rainctl("login", "me@example.com", "--password-file", lab.folder.file("password"))
        }
    }

    private static func proxy(_ name: String, _ words: String, _ status: String) -> InjectedFault {
        InjectedFault("proxy", name, words) { lab in
            let server = try LoopbackServer { peer in
                guard peer.readRequest() != nil else { return }
                peer.respond(status)
            }
            return try await throughProxy(lab, "http://127.0.0.1:\(server.port)")
        }
    }

    private static func throughProxy(_ lab: FaultLab, _ proxy: String) async throws -> Maker.Outcome {
        try await lab.use("https://rainmaker.example.com")
        return try await lab.timed(
            ["login", "me@example.com", "--password-file", lab.folder.file("password")],
            environment: ["HTTPS_PROXY": proxy, "https_proxy": proxy])
    }
}
