// SPDX-License-Identifier: Apache-2.0
import Glibc
import ProtocommCore
import RainJSON
import TestSupport
import Testing

@Suite("The board's serial console")
struct ConsoleTests {
    /// The lines of a console's answer that are nothing but an even number of hex digits.
    private func replies(_ text: String) -> [String] {
        text.split(whereSeparator: { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }).map(String.init).filter { line in
            line.utf8.count.isMultiple(of: 2) && line.allSatisfy(\.isHexDigit)
        }
    }

    @Test("the boot log waits for the first open; ROM, QR line and prompt come in order")
    func boot() async throws {
        try await withTemporaryFolder { folder in
            let link = folder.file("tty")
            try await withBoard(["--console", link, "--security", "2", "--pop", "abcd1234", "--name", "PROV_c0ffee"]) {
                child, ready in
                #expect(ready["console"] == .string(link))
                #expect(ready["http"] == nil)
                let qrCode =
                    #"{"ver":"v1","name":"PROV_c0ffee","username":"wifiprov","pop":"abcd1234","transport":"softap"}"#
                #expect(ready["qr"].map { String(decoding: $0.serialized(), as: UTF8.self) } == qrCode)
                let peer = try SerialPeer(link)
                try await peer.read(until: "ESP-ROM:esp32c3-api1-20210207\r\n")
                try await peer.read(until: "entry 0x403cc710\r\n")
                try await peer.read(until: "Provisioning QR : \(qrCode)\u{1B}[0m\r\n")
                try await peer.read(until: "qrcode.html?data=\(qrCode)")
                try await peer.read(until: "\r\n\n>> ")
                try await child.terminate(within: Timings.limit(.seconds(1)))
                #expect(access(link, F_OK) != 0)
            }
        }
    }

    @Test("a board that is reached by Bluetooth also names that in the QR code of its boot log")
    func bootOverBluetooth() async throws {
        try await withTemporaryFolder { folder in
            let link = folder.file("tty")
            let radio = try await SimulatedBluetooth.start(["--console", link], in: folder)
            let peer = try SerialPeer(link)
            try await peer.read(until: "Provisioning QR : ")
            let code = try await peer.read(until: "}")
            #expect(try JSONValue(parsing: Array(code.utf8))["transport"] == "ble")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("endpoint, session and hex bring the echo, then the reply in hex, then the prompt", arguments: [1, 2, 3, 4])
    func exchange(seed: Int) async throws {
        try await withTemporaryFolder { folder in
            let link = folder.file("tty")
            let file = folder.file("journal")
            try await withBoard(
                [
                    "--console", link, "--security", "0", "--wifi", "Net:password", "--join-delay", "0", "--seed",
                    "\(seed)",
                ],
                journal: file
            ) { _, _ in
                let peer = try SerialPeer(link)
                try await peer.read(until: "\r\n\n>> ")
                let echo = try await peer.exchange("prov-session 0 5203a20100")
                #expect(echo.hasPrefix("prov-session 0 5203a20100\r\n"))
                #expect(echo.contains("\r\r\n52050801aa0100\r\r\n"))
                #expect(replies(echo) == ["52050801aa0100"])
                #expect(replies(try await peer.exchange("PROV-CONFIG 0 5200")) == [])
                #expect(replies(try await peer.exchange("prov-config 0")) == [])
                #expect(replies(try await peer.exchange("prov-config 0 0899")) == [])
                #expect(replies(try await peer.exchange("prov-config 0 5200")) == ["08015a021001"])
                #expect(
                    replies(try await peer.exchange("prov-config 0 0802620f0a034e6574120870617373776f7264")) == [
                        "08036a00"
                    ])
                #expect(replies(try await peer.exchange("prov-config 0 0804")) == ["08057a00"])
                #expect(replies(try await peer.exchange("prov-config 0 5200")).first?.hasPrefix("08015a") == true)
                try await peer.read(until: "Provisioning stopped")
            }
            let requests = try journal(file).filter { $0["event"] == "request" }
            #expect(
                requests.map { $0["outcome"]?.string } == ["reply", "refused"] + Array(repeating: "reply", count: 4))
            #expect(!(try readFile(file)).contains("password"))
        }
    }

    @Test("a blocking scan keeps the console until it is done")
    func blockingScan() async throws {
        try await withTemporaryFolder { folder in
            let link = folder.file("tty")
            try await withBoard(["--console", link, "--security", "0", "--wifi", "Net:password"]) { _, _ in
                let peer = try SerialPeer(link)
                try await peer.read(until: "\r\n\n>> ")
                #expect(replies(try await peer.exchange("prov-scan 0 520408012078")) == ["08015a00"])
                #expect(replies(try await peer.exchange("prov-scan 0 0802")) == ["08036a0408011001"])
            }
        }
    }

    @Test("what a closed port had asked for is not told to whoever opens it next")
    func closedWhileScanning() async throws {
        try await withTemporaryFolder { folder in
            let (link, file) = (folder.file("tty"), folder.file("journal"))
            try await withBoard(
                ["--console", link, "--security", "0", "--wifi", "Net:password", "--channel-delay", "0.03"],
                journal: file
            ) { _, _ in
                var peer: SerialPeer? = try SerialPeer(link)
                try await peer?.read(until: "\r\n\n>> ")
                peer?.send("prov-scan 0 520408012078\r")
                try await peer?.read(until: "prov-scan 0 520408012078\r\n")
                peer = nil
                _ = try await Journal(path: file).entry(where: ["change": "scan_finished"])
                let next = try SerialPeer(link)
                #expect(replies(try await next.exchange("prov-scan 0 0802")) == ["08036a0408011001"])
            }
        }
    }

    @Test("the stock commands: node id, mapping, and the verdict in the board's log")
    func stockCommands() async throws {
        try await withTemporaryFolder { folder in
            let link = folder.file("tty")
            let file = folder.file("journal")
            try await withBoard(
                [
                    "--console", link, "--console-dialect", "rainmaker", "--wifi", "My Net:pass word", "--join-delay",
                    "0.05",
                    "--node-id", "node-7",
                ], journal: file
            ) { _, _ in
                let peer = try SerialPeer(link)
                #expect(try await peer.exchange("get-node-id").contains("esp_rmaker_commands: Node ID: node-7\r\n"))
                #expect(try await !peer.exchange("no-such-command").contains("failed"))
                #expect(
                    try await peer.exchange("add-user user").contains(
                        "Invalid Usage.\r\nrmaker_console: Console command failed with error: 258\r\n"))
                #expect(try await peer.exchange("add-user user secret-1").contains("Starting user-node mapping\r\n"))
                _ = try await peer.exchange("wifi-prov Elsewhere x")
                try await peer.read(until: "Reason : Wi-Fi access-point not found")
                _ = try await peer.exchange(#"wifi-prov "My Net" wrong"#)
                try await peer.read(until: "Reason : Wi-Fi station authentication failed")
                _ = try await peer.exchange(#"wifi-prov My\ Net "pass word""#)
                try await peer.read(until: "sta ip: 192.168.1.23, mask: 255.255.255.0, gw: 192.168.1.1")
            }
            let changes = try journal(file).compactMap { $0["change"]?.string }
            #expect(changes.contains("user_mapping_received") && changes.last == "joined")
            #expect(!(try readFile(file)).contains("secret-1"))
        }
    }

    @Test("settings for a board whose provisioning has ended are refused with the words for that")
    func stoppedByStrikes() async throws {
        try await withTemporaryFolder { folder in
            let (link, file) = (folder.file("tty"), folder.file("journal"))
            try await withBoard(
                ["--console", link, "--console-dialect", "rainmaker", "--http", "127.0.0.1:0"], journal: file
            ) { _, ready in
                let address = try #require(ready["http"]?.string)
                // A key of the wrong length counts as a wrong proof.
                let strike = SessionData(
                    .security1(Security1Payload(.command0(Security1Command0(clientPublicKey: [1])))))
                for _ in 1...5 {
                    let peer = try RawHTTPPeer(address)
                    peer.post("prov-session", strike.encoded())
                    #expect(await peer.nextResponse().ending == .closed)
                }
                _ = try await Journal(path: file).entry(where: ["change": "service_stopped"])
                let peer = try SerialPeer(link)
                let said = try await peer.exchange("wifi-prov Net password")
                #expect(said.contains("network_prov_mgr: Invalid state of Provisioning app\u{1B}[0m\r\n"))
                #expect(!said.contains("already received"))
            }
        }
    }

    @Test("a link left behind is replaced; a file of that name is not")
    func staleLink() async throws {
        try await withTemporaryFolder { folder in
            let link = folder.file("tty")
            symlink("/dev/pts/no-such", link)
            try await withBoard(["--console", link]) { _, _ in _ = try SerialPeer(link) }
            try folder.write("precious", to: "file")
            let refused = try await run(
                try Executables.path("firmware-sim"), ["--console", folder.file("file")])
            #expect(refused.status == .exited(64))
            #expect(try folder.read("file") == "precious")
        }
    }

    @Test(
        "a link to anything but a terminal is somebody's, and stays",
        arguments: ["precious", "/dev/ttyUSB0", "/dev/pts"])
    func foreignLink(target: String) async throws {
        try await withTemporaryFolder { folder in
            let link = folder.file("tty")
            symlink(target, link)
            let refused = try await run(
                try Executables.path("firmware-sim"), ["--console", link])
            #expect(refused.status == .exited(64))
            #expect(refused.standardError.contains("\(link) is a link to \(target)"))
            #expect(try await run("readlink", [link]).standardOutput == target + "\n")
        }
    }
}
