// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainMaker
import TestSupport
import Testing

/// Claiming in a board's place, with Espressif's esptool and partition generator, and a chip's boot loader that speaks to them.
@Suite("Claiming by the host")
struct HostClaimTests {
    private static let mac = "7CDFA1000042"

    /// The Python of the official client has both of Espressif's tools.
    private static func python() async throws -> String {
        try await ForeignClient.officialClient.path().replacing("/esp-rainmaker-cli", with: "/python")
    }

    private struct Place {
        let folder: TemporaryFolder
        let cloud: SimulatedCloud
        let maker: Maker
        let python: String
        var port: String { folder.file("port") }
        var flash: String { folder.file("flash") }

        func claim(_ more: [String], timeout: String = "240s") async throws -> Maker.Outcome {
            try await maker.rainctl(
                ["device", "claim", "--host", "--python", python, "--json", "--timeout", timeout] + more)
        }

        func claims() throws -> [String] {
            try cloud.journal.entries(where: ["event": "claim"]).compactMap { $0["what"]?.string }
        }

        /// What a claim has left on this machine.
        func leftOvers() async throws -> [String] {
            let found = try await run("find", [folder.file("state/rainkit/claims"), "-type", "f"])
            return found.standardOutput.split(separator: "\n").map(String.init)
        }
    }

    /// A chip whose flash has that partition table, and nothing else.
    private func withChip(
        table: [UInt8], _ more: [String] = [], _ body: (Place) async throws -> Void
    ) async throws {
        let python = try await Self.python()
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: true)
            let place = Place(folder: folder, cloud: cloud, maker: maker, python: python)
            let erased = [UInt8](repeating: 0xFF, count: 4 << 20)
            folder.writePrivately(erased[..<0x8000] + table + erased[(0x8000 + table.count)...], to: "flash")
            let script = Repository.path("Tests/EndToEnd/ForeignClients/Clients/rom_loader.py")
            let chip = try await ChildProcess.start("python3", [script, place.port, place.flash, Self.mac] + more)
            defer { chip.kill() }
            #expect(try await chip.line() == "ready")
            try await body(place)
        }
    }

    private static func table(_ label: String, at offset: UInt32 = 0x3F_A000) -> [UInt8] {
        let numbers = [offset, 0x6000].flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let name = Array(label.utf8) + [UInt8](repeating: 0, count: 16 - label.utf8.count)
        return [0xAA, 0x50, 1, 2] + numbers + name + [0, 0, 0, 0]
    }

    @Test("puts into the board's flash what its cloud believes, and keeps no key here")
    func claim() async throws {
        try await withChip(table: Self.table("fctry")) { place in
            let outcome = try await place.claim(["--port", place.port])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let node = try #require(outcome.document?["node_id"]?.string)
            #expect(outcome.document?["mac"]?.string == Self.mac)
            #expect(outcome.document?["flash_address"] == "0x3fa000")
            #expect(try place.claims() == ["initiated", "verified"])
            #expect(try await place.leftOvers() == [])

            // What is in the flash is all that a node needs: another client connects with it.
            let flash = try place.folder.readBytes("flash")[0x3F_A000...]
            let certificate = try #require(Self.block("CERTIFICATE", in: flash))
            let key = try #require(Self.block("PRIVATE KEY", in: flash))
            try place.folder.write(certificate, to: "node.crt")
            try place.folder.write(key, to: "node.key")
            #expect(Self.occurs(node, in: flash))
            let (host, port) = (place.cloud.mqtt.split(separator: ":")[0], place.cloud.mqtt.split(separator: ":")[1])
            let published = try await run(
                "mosquitto_pub",
                [
                    "-h", String(host), "-p", String(port), "--cafile", place.cloud.ca, "--cert",
                    place.folder.file("node.crt"), "--key", place.folder.file("node.key"), "-q", "1", "-t",
                    "node/\(node)/config", "-m", #"{"node_id":"\#(node)","info":{"name":"Claimed"}}"#,
                ])
            #expect(published.status == .exited(0), "\(published.standardError)")
            _ = try await place.cloud.journal.entry(where: ["event": "node", "node": .string(node), "what": "config"])

            // The same board is the same node.
            let again = try await place.claim(["--port", place.port])
            #expect(again.document?["node_id"]?.string == node, "\(again.standardError)")
        }
    }

    @Test("makes the image that the official client makes of the same credentials")
    func image() async throws {
        let python = try await Self.python()
        try await withTemporaryFolder { folder in
            let credentials = NodeCredentials(
                node: NodeID("N1,\"2\""), certificate: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
                key: Secret("-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"), mqttHost: "mqtt.example",
                credentialsHost: "credentials.example", random: Secret((0..<64).map { UInt8($0) }))
            try folder.write(credentials.partitionRows.revealString(), to: "ours.csv")
            // The rows of claim.py: each value in a file.
            var rows = ["key,type,encoding,value", "rmaker_creds,namespace,,"]
            for (key, value) in [
                ("node_id", credentials.node.rawValue), ("mqtt_host", credentials.mqttHost),
                ("mqtt_cred_host", "credentials.example"), ("client_cert", credentials.certificate),
                ("client_key", credentials.key.revealString()),
            ] {
                try folder.write(value, to: key)
                rows.append("\(key),file,binary,\(folder.file(key))")
            }
            try folder.write(hexString(credentials.random.revealBytes()), to: "random")
            rows.append("random,file,hex2bin,\(folder.file("random"))")
            try folder.write(rows.joined(separator: "\n") + "\n", to: "theirs.csv")
            for name in ["ours", "theirs"] {
                let made = try await run(
                    python,
                    [
                        "-m", "esp_idf_nvs_partition_gen", "generate", folder.file("\(name).csv"),
                        folder.file("\(name).bin"), "0x6000",
                    ])
                #expect(made.status == .exited(0), "\(made.standardOutput)\(made.standardError)")
            }
            let ours = try folder.readBytes("ours.bin")
            #expect(ours.count == 0x6000)
            #expect(try ours == folder.readBytes("theirs.bin"))
        }
    }

    @Test(
        "without a board writes the image into a new file of its owner's, and spends no claim on one that cannot be written"
    )
    func imageFile() async throws {
        try await withChip(table: []) { place in
            let file = place.folder.file("claim.bin")
            let outcome = try await place.claim(["--mac", "7c:df:a1:00:00:42", "--image", file])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let mode = try await run("stat", ["-c", "%a %s", file])
            #expect(mode.standardOutput == "600 24576\n")
            #expect(try await place.leftOvers() == [])
            let again = try await place.claim(["--mac", Self.mac, "--image", file])
            #expect(again.status == 73, "\(again.standardError)")
            let kept = try await run("stat", ["-c", "%a %s", file])
            #expect(kept.standardOutput == "600 24576\n", "the image may be the only copy of the key")
            #expect(try place.claims() == ["initiated", "verified"])
        }
    }

    struct Refusal: Sendable {
        var table: [UInt8]
        var reason: String
        var words: String
    }

    @Test(
        "overwrites nothing else: a flash without the partition is named before the claim is spent",
        arguments: [
            Refusal(table: [], reason: "no_partition_table", words: "flash the firmware first"),
            Refusal(table: Self.table("storage"), reason: "no_factory_partition", words: "only storage"),
        ])
    func noPartition(refusal: Refusal) async throws {
        try await withChip(table: refusal.table) { place in
            let outcome = try await place.claim(["--port", place.port])
            #expect(
                outcome.status == 65 && outcome.failure?["reason"]?.string == refusal.reason,
                "\(outcome.standardOutput)")
            #expect(outcome.failure?["message"]?.string?.contains(refusal.words) == true, "\(outcome.standardOutput)")
            #expect(try place.claims() == [])
        }
    }

    @Test("that the flash does not take keeps the image, and says how to write it")
    func wornFlash() async throws {
        try await withChip(table: Self.table("fctry"), ["worn"]) { place in
            let outcome = try await place.claim(["--port", place.port])
            #expect(outcome.status == 69 && outcome.failure?["reason"] == "esptool_failed", "\(outcome.standardOutput)")
            let left = try await place.leftOvers()
            #expect(left.count == 1)
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(message.contains("write_flash 0x3fa000 \(left.first ?? "none")"), "\(message)")
            #expect(message.contains("private key"), "\(message)")
        }
    }

    @Test("names what is missing: the tools, the port, the boot loader")
    func missing() async throws {
        try await withChip(table: []) { place in
            let tools = try await place.maker.rainctl(
                ["device", "claim", "--host", "--python", "/usr/bin/python3", "--port", place.port, "--json"])
            #expect(tools.status == 69 && tools.failure?["reason"] == "no_esptool", "\(tools.standardOutput)")
            let program = try await place.maker.rainctl(
                ["device", "claim", "--host", "--python", "no-such-python", "--port", place.port, "--json"])
            #expect(program.status == 69 && program.failure?["reason"] == "no_program", "\(program.standardOutput)")
            let words = program.failure?["message"]?.string ?? ""
            #expect(words.contains("--python") && !words.contains(".."), "\(words)")
            let port = try await place.claim(["--port", place.folder.file("nowhere")])
            #expect(port.status == 69 && port.failure?["reason"] == "no_port", "\(port.standardOutput)")

            // esptool gives up by itself; before, the time of the command may be over.
            let silent = try PseudoTerminal()
            defer { withExtendedLifetime(silent) {} }
            let board = try await place.claim(["--port", silent.path])
            #expect(board.status == 69 && board.failure?["reason"] == "no_boot_loader", "\(board.standardOutput)")
            let began = ContinuousClock.now
            let late = try await place.claim(["--port", silent.path], timeout: "1s")
            #expect(late.status == 16, "\(late.standardOutput)")
            #expect(began.duration(to: .now) < Timings.limit(.seconds(8)))
            #expect(try place.claims() == [])
        }
    }

    /// The first block of PEM with that label.
    private static func block(_ label: String, in bytes: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let begin = text.firstRange(of: "-----BEGIN \(label)-----"),
            let end = text.firstRange(of: "-----END \(label)-----")
        else { return nil }
        return String(text[begin.lowerBound..<end.upperBound]) + "\n"
    }

    private static func occurs(_ text: String, in bytes: ArraySlice<UInt8>) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains(text)
    }
}
