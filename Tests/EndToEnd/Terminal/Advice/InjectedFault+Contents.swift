// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// What can be wrong with the content of codes and files, and with what answers in the place of a board.
extension InjectedFault {
    static let ofContents: [InjectedFault] = [
        qrCode(
            "a proof of possession that is a number", "pop", #"{"name":"PROV_1","pop":12345678,"transport":"softap"}"#),
        qrCode(
            "a security scheme that is text", "security",
            #"{"name":"PROV_1","pop":"planted","security":"2","transport":"softap"}"#),
        answers("a router's page instead of a board", "not a board", "200 OK", "<html>Router</html>"),
        answers("a redirect instead of a board", "not a board", "302 Found", headers: ["Location: /login"], ""),
        answers("HTTP 404 from a server that is not a board", "not a board", "404 Not Found", "no"),
        InjectedFault("Wi-Fi", "no password for a network that has one", "open|password") { lab in
            let board = try await lab.board(["--security", "1", "--attempts", "1"])
            return try await lab.provision(Maker.way(to: board), network: ["--ssid", SimulatedBoard.ssid, "--open"])
        },
        passphrase(
            "a Wi-Fi password in UTF-16", "UTF-16", [0xFF, 0xFE] + Array("planted-wifi".utf8).flatMap { [$0, 0] }),
        passphrase("a Wi-Fi password with a NUL byte", "NUL|zero", Array("planted\0wifi".utf8)),
        passphrase("a picture instead of a Wi-Fi password", "picture", [0x89] + Array("PNG\r\n\u{1A}\n\0\0\0\r".utf8)),
        passphrase("a Wi-Fi password of two lines", "line", Array("planted-wifi\nsecond".utf8)),
        command(
            "file", "a file of boards with NUL bytes at its end", "Line 3 of the file of boards contains NUL",
            cloud: true, files: ["boards.csv": "name,transport\nPROV_1,ble\n\0\0\0"],
            ["batch", "run", "{}/boards.csv", "--ssid", "Home", "--passphrase-file", "{}/wifi"]),
        broker("a client's certificate and key that are swapped", "are swapped", "PRIVATE KEY", "CERTIFICATE"),
        broker(
            "a certificate request instead of a client's certificate", "-----BEGIN CERTIFICATE REQUEST-----",
            "CERTIFICATE REQUEST", "PRIVATE KEY"),
        broker(
            "a certificate instead of a client's key", "but no private key", "CERTIFICATE", "CERTIFICATE"),
        InjectedFault("provider", "an unknown version of a portal", "serverVersion") { lab in
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

    /// A bridge with these kinds of PEM files for the client's certificate and key.
    private static func broker(_ name: String, _ words: String, _ certificate: String, _ key: String) -> InjectedFault {
        InjectedFault("file", name, words) { lab in
            for (file, label) in [("client.pem", certificate), ("client.key", key)] {
                let text = "-----BEGIN \(label)-----\nMAA=\n-----END \(label)-----\n"
                lab.folder.writePrivately(Array(text.utf8), to: file)
            }
            return try await lab.timed(
                [
                    "bridge", "mqtts://127.0.0.1:1", "--client-cert", lab.folder.file("client.pem"), "--client-key",
                    lab.folder.file("client.key"),
                ], as: lab.bench.maker)
        }
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
}
