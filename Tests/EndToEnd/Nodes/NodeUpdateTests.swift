// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCryptoOpenSSL
import RainJSON
import RainKit
import TestSupport
import Testing

@Suite("rainctl node ota")
struct NodeUpdateTests {
    /// An application's image: header, description, something behind it, checksum and hash.
    static func image(
        chip: UInt8 = 5, size: Int = 4096, version: String = "2.0", project: String = "led_light"
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        (bytes[0], bytes[1]) = (0xE9, 1)
        // One segment, up to the checksum in front of the hash.
        let end = size - 32
        for index in 0..<4 { bytes[28 + index] = UInt8(truncatingIfNeeded: (end - 33) >> (8 * index)) }
        bytes[23] = 1
        bytes[12] = chip
        bytes.replaceSubrange(32..<36, with: [0x32, 0x54, 0xCD, 0xAB])
        bytes.replaceSubrange(48..<48 + version.utf8.count, with: Array(version.utf8))
        bytes.replaceSubrange(80..<80 + project.utf8.count, with: Array(project.utf8))
        bytes[end - 1] = bytes[32..<(end - 1)].reduce(0xEF) { $0 ^ $1 }
        return bytes.prefix(end) + OpenSSLHashes.sha256(Array(bytes.prefix(end)))
    }

    private static func with(
        _ options: [String], _ body: (OnlineBoards, _ file: String) async throws -> Void
    ) async throws {
        try await OnlineBoards.with(options: options) { scene in
            scene.maker.folder.writePrivately(image(), to: "image.bin")
            try await body(scene, scene.maker.folder.file("image.bin"))
        }
    }

    @Test("an image is uploaded, and followed until the board has it")
    func success() async throws {
        try await Self.with([]) { scene, file in
            let outcome = try await scene.done("node", "ota", "nodelight", file, "--json")
            #expect(outcome.document?["state"] == "success" && outcome.document?["version"] == "2.0")
            #expect(outcome.standardError.contains("uploading led_light 2.0, 4096 bytes"))
            #expect(outcome.standardError.contains("in-progress: Downloading Firmware Image"))
            // A second one is not taken for done because the first was.
            let second = try await scene.done("node", "ota", "nodelight", file, "--no-wait", "--json")
            #expect(second.document?["state"] == "sent")
        }
    }

    @Test("what firmware may reject is said: another project, and the version that the board has")
    func warnings() async throws {
        try await Self.with([]) { scene, _ in
            scene.maker.folder.writePrivately(Self.image(version: "1.0", project: "fan"), to: "fan.bin")
            let outcome = try await scene.done(
                "node", "ota", "nodelight", scene.maker.folder.file("fan.bin"), "--no-wait", "--json")
            let reasons = outcome.document?["warnings"]?.array?.map { $0["reason"] }
            #expect(reasons == ["other_project", "same_version"], "\(outcome.standardOutput)")
        }
    }

    @Test("a terminal sees a bar with the bytes, then what the board says, and what is waited for")
    func bar() async throws {
        try await Self.with(["--update", "delayed"]) { scene, _ in
            let folder = scene.maker.folder
            folder.writePrivately(Self.image(size: 3 << 20), to: "large.bin")
            let person = try await Person.start(
                Executables.path("rainctl"), ["node", "ota", "nodelight", folder.file("large.bin")],
                environment: scene.maker.environment.merging(["TERM": "xterm"]) { $1 })
            try await person.hears("uploading led_light 2.0")
            try await person.hears("████████████████████ 3072 of 3072 KiB")
            try await person.hears("waiting for")
            #expect(try await person.wait() == .exited(0), "\(person.transcript)")
            #expect(person.transcript.contains("delayed: Not a good time"))
        }
    }

    @Test(
        "boards that do not take it, and one that does not come back",
        arguments: [
            ("rejected", 1, "other", "rejected", "update_rejected"),
            ("failed", 1, "other", "has failed", "update_failed"),
            ("vanish", 16, "deadline", "rainctl node params get", "deadline"),
        ])
    func ends(end: String, status: Int, code: String, words: String, reason: String) async throws {
        try await Self.with(["--update", end]) { scene, file in
            // Only the board that vanishes is waited for until the end.
            let limit = end == "vanish" ? "15" : "120"
            let outcome = try await scene.rainctl("node", "ota", "nodelight", file, "--timeout", limit, "--json")
            outcome.expectFailure(status, code, says: words)
            #expect(outcome.failure?["reason"]?.string == reason)
        }
    }

    @Test("one that delays it is waited for")
    func delayed() async throws {
        try await Self.with(["--update", "delayed"]) { scene, file in
            let outcome = try await scene.done("node", "ota", "nodelight", file)
            #expect(outcome.standardError.contains("delayed: Not a good time"))
        }
    }

    @Test("Ctrl-C leaves the update alone, and says how to follow it")
    func interrupted() async throws {
        try await Self.with(["--update", "vanish"]) { scene, file in
            let child = try await scene.maker.start(["node", "ota", "nodelight", file, "--json"])
            defer { child.kill() }
            try await child.errorOutput(containing: "which fetches the image")
            child.signal(SIGINT)
            #expect(try await child.wait() == .exited(130))
            try await child.drained()
            #expect(
                child.standardOutput.contains("See the update's progress with rainctl node params get nodelight."),
                "\(child.standardOutput)")
        }
    }

    @Test("nothing is uploaded that the board could not use")
    func refused() async throws {
        try await Self.with([]) { scene, _ in
            let folder = scene.maker.folder
            folder.writePrivately(Self.image(chip: 9), to: "s3.bin")
            folder.writePrivately(Array(Self.image().prefix(100)), to: "short.bin")
            folder.writePrivately([0xE9] + [UInt8](repeating: 0xFF, count: 4000), to: "boot.bin")
            try folder.write("not an image", to: "text.bin")
            for (position, name) in [(1000, "sum.bin"), (2, "hash.bin")] {
                var damaged = Self.image()
                damaged[position] ^= 1
                folder.writePrivately(damaged, to: name)
            }
            for (file, reason, words) in [
                ("s3.bin", "wrong_chip", "esp32s3"), ("short.bin", "bad_image", "is cut off"),
                ("boot.bin", "bad_image", "image of an application"), ("text.bin", "bad_image", "E9"),
                ("sum.bin", "bad_image", "is damaged: the checksum"),
                ("hash.bin", "bad_image", "is damaged: the SHA-256"),
            ] {
                let outcome = try await scene.rainctl("node", "ota", "nodelight", folder.file(file), "--json")
                outcome.expectFailure(65, "bad_data", says: words)
                #expect(outcome.failure?["reason"]?.string == reason)
                let message = outcome.failure?["message"]?.string ?? "?."
                #expect(!message.contains("?.") && !message.contains(".."), "\(message)")
            }
            #expect(try scene.cloud.journal.entries(where: ["path": "/v1/user/otaimage"]).isEmpty)
        }
    }

    private static let node: (status: Int, body: String) = {
        let parameter = #"{"name":"URL","type":"esp.param.ota_url","data_type":"string","properties":["write"]}"#
        let service = #"{"name":"OTA","type":"esp.service.ota","params":[\#(parameter)]}"#
        return (200, #"{"node_details":[{"id":"n1","config":{"node_id":"n1","services":[\#(service)]}}]}"#)
    }()
    private static let uploaded = (
        status: 200, body: #"{"status":"success","image_url":"https://images.example/1"}"#
    )

    /// A board that has said something of updates, or nothing.
    private static func board(
        _ said: (status: String, info: String)? = nil, isOnline: Bool, version: String? = nil
    ) -> (status: Int, body: String) {
        let parameters = ["url", "status", "info"].map {
            #"{"name":"\#($0)","type":"esp.param.ota_\#($0)","data_type":"string","properties":["read","write"]}"#
        }
        let service = #"{"name":"OTA","type":"esp.service.ota","params":[\#(parameters.joined(separator: ","))]}"#
        let values = said.map { #"{"OTA":{"status":"\#($0.status)","info":"\#($0.info)"}}"# } ?? "{}"
        let state = #"{"connectivity":{"connected":\#(isOnline),"timestamp":1}}"#
        let info = version.map { #""info":{"fw_version":"\#($0)"},"# } ?? ""
        let config = #"{"node_id":"n1",\#(info)"services":[\#(service)]}"#
        return (
            200, #"{"node_details":[{"id":"n1","config":\#(config),"status":\#(state),"params":\#(values)}]}"#
        )
    }
    private static let put = "PUT /v1/user/nodes/params?node_id=n1"

    private static func canned(
        _ upload: (status: Int, body: String), _ puts: [(status: Int, body: String)],
        nodes: [(status: Int, body: String)] = [node],
        _ body: (Maker, CannedCloud, _ file: String) async throws -> Void
    ) async throws {
        let answers = [
            "GET /v1/user/nodes?node_id=n1&node_details=true": nodes, "POST /v1/user/otaimage": [upload], put: puts,
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            maker.folder.writePrivately(image(), to: "image.bin")
            try await body(maker, cloud, maker.folder.file("image.bin"))
        }
    }

    @Test(
        "an image that the server does not accept is too large, whichever server reports it",
        arguments: [#"{"message":"Request Too Long"}"#, "<html>413 Request Entity Too Large</html>"])
    func tooLarge(body: String) async throws {
        try await Self.canned((413, body), [CannedCloud.done]) { maker, cloud, file in
            let outcome = try await maker.rainctl(["node", "ota", "n1", file, "--no-wait", "--json"])
            outcome.expectFailure(1, "other", says: "4096 bytes is larger than the server accepts")
            #expect(!cloud.calls.contains(Self.put))
        }
    }

    @Test("the image's address is sent again if the call fails temporarily, and not if it is refused")
    func toldAgain() async throws {
        let fault = (status: 502, body: #"{"message":"Internal server error"}"#)
        try await Self.canned(Self.uploaded, [fault, fault, CannedCloud.done]) { maker, cloud, file in
            let outcome = try await maker.succeeds(["node", "ota", "n1", file, "--no-wait", "--json"])
            #expect(outcome.document?["state"] == "sent")
            let sent: [JSONValue?] = Array(repeating: ["OTA": ["URL": "https://images.example/1"]], count: 3)
            #expect(cloud.bodies(Self.put) == sent)
            let said = outcome.standardError
            #expect(
                said.contains(" Sending the request again.") && !said.contains(".;") && !said.contains(".."), "\(said)")
            #expect(cloud.calls.count { $0 == "POST /v1/user/otaimage" } == 1)
        }
        try await Self.canned(Self.uploaded, [CannedCloud.refusal(100_010)]) { maker, cloud, file in
            let outcome = try await maker.rainctl(["node", "ota", "n1", file, "--no-wait", "--json"])
            #expect(outcome.status != 0)
            #expect(cloud.calls.count { $0 == Self.put } == 1)
        }
    }

    @Test("a board that is offline from the start: that is a warning, and nothing is said of it that it did not say")
    func offline() async throws {
        let away = Self.board(("success", "words of an earlier update"), isOnline: false)
        try await Self.canned(Self.uploaded, [CannedCloud.done], nodes: [away]) { maker, _, file in
            let ota = ["node", "ota", "n1", file, "--json"]
            let outcome = try await maker.rainctl(ota + ["--timeout", "8"])
            outcome.expectFailure(16, "deadline", says: "n1 is offline, and has not begun the update")
            #expect(outcome.failure?["message"]?.string?.contains("rainctl node params get n1") == true)
            #expect(outcome.document?["state"] == "sent" && outcome.document?["info"] == nil)
            #expect(outcome.document?["warnings"]?.array?.map { $0["reason"] } == ["offline"])
            let all = outcome.standardOutput + outcome.standardError
            for words in ["earlier", "restarts", "last said", "()", "has notified"] {
                #expect(!all.contains(words), "\(words): \(all)")
            }
            #expect(
                outcome.standardError.contains("warning: n1 is offline. It gets the update when it is online again"))
            let sent = try await maker.succeeds(ota + ["--no-wait"])
            #expect(sent.document?["warnings"]?.array?.map { $0["reason"] } == ["offline"])
        }
    }

    @Test("a board that is back is followed, and has not begun because it says nothing any more")
    func back() async throws {
        let away = Self.board(("success", "words of an earlier update"), isOnline: false)
        let nodes = [
            away, away, Self.board(("", ""), isOnline: true),
            Self.board(("in-progress", "Downloading"), isOnline: true), Self.board(("success", ""), isOnline: true),
        ]
        try await Self.canned(Self.uploaded, [CannedCloud.done], nodes: nodes) { maker, _, file in
            let outcome = try await maker.rainctl(["node", "ota", "n1", file, "--timeout", "120", "--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["state"] == "success" && outcome.document?["info"] == nil)
            #expect(outcome.standardError.contains("the board is online again"))
            #expect(outcome.standardError.contains("in-progress: Downloading"))
        }
    }

    @Test("a board that goes away restarts with the new firmware only if it has begun", arguments: [false, true])
    func goesAway(hasBegun: Bool) async throws {
        let said = hasBegun ? (status: "in-progress", info: "") : nil
        let nodes = [
            Self.board(isOnline: true), Self.board(isOnline: true), Self.board(said, isOnline: true),
            Self.board(said, isOnline: false),
        ]
        try await Self.canned(Self.uploaded, [CannedCloud.done], nodes: nodes) { maker, _, file in
            let outcome = try await maker.rainctl(["node", "ota", "n1", file, "--timeout", "15", "--json"])
            outcome.expectFailure(
                16, "deadline",
                says: hasBegun ? "n1 is offline, and last reported in-progress. It" : "n1 is offline, and has not")
            #expect(outcome.document?["state"]?.string == (hasBegun ? "in-progress" : "sent"))
            #expect(outcome.document?["info"] == nil && outcome.document?["warnings"] == nil)
            #expect(outcome.standardError.contains("it restarts with the new firmware") == hasBegun)
            #expect(outcome.standardError.contains("gets the update when it is online again") != hasBegun)
        }
    }

    @Test("a refusal while the update is followed does not hide that it goes on")
    func refusedWhileFollowed() async throws {
        let nodes = [
            Self.board(isOnline: true), Self.board(isOnline: true),
            Self.board(("in-progress", "Downloading"), isOnline: true), CannedCloud.refusal(199_999),
        ]
        try await Self.canned(Self.uploaded, [CannedCloud.done], nodes: nodes) { maker, _, file in
            let outcome = try await maker.rainctl(["node", "ota", "n1", file, "--timeout", "120", "--json"])
            outcome.expectFailure(
                1, "other",
                says: "The update itself continues. See the update's progress with rainctl node params get n1.")
            #expect(outcome.failure?["reason"] == "rejected")
            #expect(outcome.document?["state"] == "in-progress" && outcome.document?["info"] == "Downloading")
        }
    }

    @Test("the end of an earlier update that comes in the time of the upload is not this one's")
    func earlierEnd() async throws {
        let nodes = [
            Self.board(("in-progress", "Downloading"), isOnline: true, version: "1.0"),
            Self.board(("success", "finished"), isOnline: true, version: "1.0"),
        ]
        try await Self.canned(Self.uploaded, [CannedCloud.done], nodes: nodes) { maker, _, file in
            let outcome = try await maker.rainctl(["node", "ota", "n1", file, "--timeout", "10", "--json"])
            outcome.expectFailure(16, "deadline", says: "n1 has not begun the update yet.")
            #expect(outcome.document?["state"] == "sent" && outcome.document?["info"] == nil)
        }
    }

    @Test("nor is one that comes after it: boards take no update while another is under way")
    func underWay() async throws {
        let busy = Self.board(("in-progress", "Downloading"), isOnline: true, version: "1.0")
        let ended = Self.board(("success", "finished"), isOnline: true, version: "1.1")
        for (nodes, words) in [
            ([busy], "n1 is still installing an earlier update (in-progress: Downloading): a board accepts"),
            ([busy, busy, ended], "n1 was busy with an earlier update (success: finished) and has not begun this one"),
        ] {
            try await Self.canned(Self.uploaded, [CannedCloud.done], nodes: nodes) { maker, _, file in
                let outcome = try await maker.rainctl(["node", "ota", "n1", file, "--timeout", "12", "--json"])
                outcome.expectFailure(16, "deadline", says: words)
                #expect(outcome.document?["state"] == "sent", "\(outcome.standardOutput)")
            }
        }
        // The image's own version shows that the board has it, whoever has sent it.
        let has = Self.board(("success", "finished"), isOnline: true, version: "2.0")
        try await Self.canned(Self.uploaded, [CannedCloud.done], nodes: [busy, busy, has]) { maker, _, file in
            let outcome = try await maker.succeeds(["node", "ota", "n1", file, "--timeout", "120", "--json"])
            #expect(outcome.document?["state"] == "success" && outcome.document?["info"] == "finished")
        }
    }

    @Test("a cloud that falls silent while the update is followed has no longer than --timeout, and loses nothing")
    func silentCloud() async throws {
        let nodes = [
            Self.board(isOnline: true), Self.board(isOnline: true),
            Self.board(("in-progress", "Downloading"), isOnline: true), CannedCloud.silence,
        ]
        try await Self.canned(Self.uploaded, [CannedCloud.done], nodes: nodes) { maker, _, file in
            let began = ContinuousClock.now
            let outcome = try await maker.rainctl(["node", "ota", "n1", file, "--timeout", "15", "--json"])
            #expect(began.duration(to: .now) < Timings.limit(.seconds(20)))
            outcome.expectFailure(
                16, "deadline", says: "the board last reported in-progress (Downloading). What happened after")
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(
                message.contains("is not known: the cloud did not answer in time. It may still finish."))
            #expect(outcome.document?["state"] == "in-progress" && outcome.document?["info"] == "Downloading")
        }
    }

    @Test("firmware without the service is reported, and nothing is uploaded")
    func noService() async throws {
        try await Self.with(["--services", "time"]) { scene, file in
            let outcome = try await scene.rainctl("node", "ota", "nodelight", file, "--json")
            outcome.expectFailure(65, "bad_data", says: "esp.service.ota")
            #expect(try scene.cloud.journal.entries(where: ["path": "/v1/user/otaimage"]).isEmpty)
        }
    }
}
