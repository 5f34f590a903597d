// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Testing

@testable import firmware_sim

/// The board's side of an update, with the texts of esp-rainmaker's `esp_rmaker_ota.c`, on a clock that the test sets.
@Suite("A simulated board's updates")
struct SimulatedUpdateTests {
    typealias Update = SimulatedUpdate

    /// An update and its clock, with what it did.
    private struct Scene {
        var update: SimulatedUpdate
        /// 12:00 on a day in 2023.
        var now = WallTime(
            milliseconds: 1000, minutes: 720, weekday: 0, day: 1, month: 0, year: 2023, seconds: 1_700_000_000)
        var reports: [String] = []
        var downloads: [String] = []
        var restarts = 0
        var fetches = 0
        var values: JSONValue?
        /// Whether all messages on `otastatus` have the job's id and the time.
        var isWhole = true

        init(_ way: UpdateWay = .topics, _ change: (inout SimulatedUpdate.Build) -> Void = { _ in }) {
            var build = SimulatedUpdate.Build()
            build.way = way
            change(&build)
            update = SimulatedUpdate(build, nodeID: "n1")
        }

        mutating func take(_ actions: [SimulatedUpdate.Action]) {
            for action in actions {
                switch action {
                case .values(let values):
                    self.values = values
                    if let status = values["Status"]?.string {
                        reports.append("\(status): \(values["Info"]?.string ?? "")")
                    }
                case .publish(let message):
                    guard let json = try? JSONValue(parsing: message.payload) else { continue }
                    if message.suffix == "otafetch" { fetches += 1 }
                    if let status = json["status"]?.string {
                        isWhole = isWhole && json["ota_job_id"] == "J1" && json["ts"] == .integer(now.seconds)
                        reports.append("\(status): \(json["additional_info"]?.string ?? "")")
                    }
                case .download(let url): downloads.append(url)
                case .restart: restarts += 1
                }
            }
        }

        mutating func receive(_ order: JSONValue) { take(update.receive(order.serialized(), at: now)) }

        mutating func pass(_ milliseconds: UInt64) {
            now.milliseconds += milliseconds
            now.seconds += Int64(milliseconds / 1000)
            take(update.advance(to: now))
        }

        /// Lets everything happen that is due within some seconds.
        mutating func settle() { for _ in 0..<20 { pass(500) } }

        mutating func finish(_ download: SimulatedUpdate.Download) {
            take(update.downloaded(download, at: now))
            settle()
        }
    }

    private static let order: JSONValue = ["ota_job_id": "J1", "url": "http://x/1", "fw_version": "2.0"]

    /// An application's image: header, description, one segment, checksum and hash.
    private static func image(version: String = "2.0", project: String = "led_light", chip: UInt8 = 5) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1024 - 32)
        (bytes[0], bytes[1], bytes[12], bytes[23]) = (0xE9, 1, chip, 1)
        let length = bytes.count - 33
        (bytes[28], bytes[29]) = (UInt8(length & 0xFF), UInt8(length >> 8))
        bytes.replaceSubrange(32..<36, with: [0x32, 0x54, 0xCD, 0xAB])
        bytes.replaceSubrange(48..<48 + version.utf8.count, with: Array(version.utf8))
        bytes.replaceSubrange(80..<80 + project.utf8.count, with: Array(project.utf8))
        bytes[bytes.count - 1] = bytes[32..<(bytes.count - 1)].reduce(0xEF) { $0 ^ $1 }
        return bytes + OpenSSLHashes.sha256(bytes)
    }

    @Test(
        "a good image is installed; its success is reported after the restart, under the job's id",
        arguments: [
            UpdateWay.topics, .params,
        ])
    func success(way: UpdateWay) {
        var scene = Scene(way)
        if way == .params {
            scene.take(scene.update.start("http://x/1", at: scene.now))
        } else {
            scene.receive(Self.order)
        }
        scene.settle()
        #expect(scene.downloads == ["http://x/1"] && scene.update.isUnderWay)
        // Another address is ignored meanwhile.
        scene.receive(["ota_job_id": "J2", "url": "http://x/2"])
        scene.take(scene.update.start("http://x/2", at: scene.now))
        scene.finish(.complete(Self.image()))
        #expect(scene.restarts == 1 && scene.update.version == "1.0")
        #expect(
            scene.reports == [
                "in-progress: Starting OTA Upgrade (HTTPS attempt 1/3)", "in-progress: Downloading Firmware Image",
                "in-progress: Firmware Image download complete",
                "in-progress: Rebooting into new firmware (after 1 HTTPS attempt)",
            ])
        scene.update.restarted()
        #expect(scene.update.version == "2.0")
        if way == .params { #expect(scene.update.values == ["Status": "", "Info": ""]) }
        scene.take(scene.update.connected(at: scene.now))
        #expect(scene.reports.last == "success: OTA Upgrade finished and verified successfully")
        #expect(scene.downloads.count == 1 && !scene.update.isUnderWay && scene.isWhole)
    }

    @Test(
        "what firmware refuses at once",
        arguments: [
            (image(project: "fan"), "rejected: Project Name mismatch", 2),
            (image(version: "1.0"), "rejected: Same version received", 2),
            (image(chip: 9), "rejected: Chip revision mismatch", 3),
        ])
    func rejected(image: [UInt8], last: String, count: Int) {
        var scene = Scene()
        scene.receive(Self.order)
        scene.take(scene.update.downloaded(.complete(image), at: scene.now))
        for _ in 0..<100 where scene.reports.last != last { scene.pass(100) }
        // With this report the update is over, and another one is not ignored.
        #expect(!scene.update.isUnderWay)
        scene.settle()
        #expect(scene.reports.last == last && scene.reports.count == count, "\(scene.reports)")
        #expect(scene.restarts == 0 && !scene.update.isUnderWay && scene.downloads.count == 1)
    }

    private static func damaged(at position: Int) -> Update.Download {
        var bytes = image()
        bytes[position] ^= 1
        return .complete(bytes)
    }

    @Test(
        "what firmware tries again",
        arguments: [
            (
                Update.Download.noImage("ESP_ERR_HTTP_CONNECT (errno=111: Connection refused)"),
                "OTA Begin failed: ESP_ERR_HTTP_CONNECT (errno=111: Connection refused)"
            ),
            (.broken(Array(image().prefix(100))), "Failed to read image description: ESP_FAIL (errno=0: Invalid)"),
            (.broken(Array(image().prefix(600))), "Complete data was not received"),
            (.complete(Array(image().prefix(600))), "Image validation failed"),
            (damaged(at: 600), "Image validation failed"), (damaged(at: 1023), "Image validation failed"),
            (damaged(at: 0), "OTA failed: ESP_ERR_OTA_VALIDATE_FAILED (errno=0: Invalid)"),
        ])
    func failed(download: Update.Download, reason: String) {
        var scene = Scene { $0.refetch = 60_000 }
        scene.receive(Self.order)
        for attempt in 1...3 {
            scene.settle()
            #expect(scene.downloads.count == attempt)
            scene.finish(download)
            #expect(scene.reports.contains("failed: OTA Attempt \(attempt)/3 failed: \(reason)"), "\(scene.reports)")
        }
        #expect(scene.reports.last == "failed: OTA Attempt 3/3 failed: \(reason)" && scene.downloads.count == 3)
        #expect(!scene.update.isUnderWay && scene.fetches == 0)
        // The next question comes later.
        scene.pass(60_000)
        #expect(scene.fetches == 1)
    }

    @Test("an image that is good at the second attempt is installed")
    func secondAttempt() {
        var scene = Scene()
        scene.receive(Self.order)
        scene.finish(.broken(Array(Self.image().prefix(600))))
        scene.finish(.complete(Self.image()))
        #expect(scene.restarts == 1)
        #expect(scene.reports.last == "in-progress: Rebooting into new firmware (after 2 HTTPS attempts)")
    }

    @Test("size and MD5 count if the cloud names them")
    func sizeAndHash() {
        let md5 = OpenSSLHashes.md5(Self.image()).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for (size, hash, isGood) in [
            (1024, md5.uppercased(), true), (0, "", true), (1023, md5, false),
            (1024, String(repeating: "0", count: 32), false),
        ] {
            var scene = Scene()
            scene.receive([
                "ota_job_id": "J1", "url": "http://x/1", "file_size": .integer(Int64(size)), "file_md5": .string(hash),
            ])
            scene.finish(.complete(Self.image()))
            #expect((scene.restarts == 1) == isGood, "\(size) \(hash)")
        }
    }

    @Test(
        "time windows, by the board's clock",
        arguments: [
            (["download_window": ["start": 660, "end": 780]], nil),
            (["download_window": ["start": 720, "end": 720]], nil),
            (["download_window": ["start": 721, "end": 780]], "delayed: Not within download window."),
            (["download_window": ["start": 600, "end": 719]], "delayed: Not within download window."),
            (["download_window": ["start": 1380, "end": 720]], nil),
            (["download_window": ["start": 1380, "end": 719]], "delayed: Not within download window."),
            (["download_window": ["start": 60]], "failed: Invalid download window specified."),
            (["download_window": ["end": 60]], nil),
            (["validity": ["start": 1_700_000_001]], "delayed: Not within valid window."),
            (["validity": ["start": 1_700_000_000, "end": 1_700_000_000]], nil),
            (["validity": ["end": 1_699_999_999]], "failed: OTA download window lapsed."),
            (["other": 1], nil),
        ] as [(JSONValue, String?)])
    func windows(metadata: JSONValue, refusal: String?) {
        var scene = Scene()
        scene.receive(["ota_job_id": "J1", "url": "http://x/1", "metadata": metadata])
        let first = refusal ?? "in-progress: Starting OTA Upgrade (HTTPS attempt 1/3)"
        #expect(scene.reports == [first] && scene.downloads.count == (refusal == nil ? 1 : 0))
        scene.settle()
        #expect(scene.update.isUnderWay == (refusal == nil))
    }

    @Test("a delayed update is fetched again when its time has come")
    func fetchedAgain() {
        for (metadata, wait) in [
            (["download_window": ["start": 721, "end": 780]] as JSONValue, 65_000 as UInt64),
            (["download_window": ["start": 700, "end": 719]], (1440 - 20) * 60_000 + 5000),
            (["validity": ["start": 1_700_000_060]], 65_000),
        ] {
            var scene = Scene()
            scene.receive(["ota_job_id": "J1", "url": "http://x/1", "metadata": metadata])
            scene.pass(wait - 1)
            #expect(scene.fetches == 0)
            scene.pass(1)
            #expect(scene.fetches == 1)
        }
        var blind = Scene { $0.hasClock = false }
        blind.receive(["ota_job_id": "J1", "url": "http://x/1", "metadata": ["validity": ["start": 1]]])
        #expect(blind.reports == ["delayed: No time information available yet."])
        blind.settle()
        blind.pass(20_000)
        #expect(blind.fetches == 1)
        blind.receive(Self.order)
        #expect(blind.downloads.count == 1)
    }

    @Test("a board asks for an update after each connection, unless it is installing one")
    func fetching() {
        var scene = Scene()
        scene.take(scene.update.connected(at: scene.now))
        #expect(scene.fetches == 0)
        scene.pass(1000)
        #expect(scene.fetches == 1)
        scene.receive(Self.order)
        scene.take(scene.update.connected(at: scene.now))
        scene.settle()
        #expect(scene.fetches == 1)
        var params = Scene(.params)
        params.take(params.update.connected(at: params.now))
        params.settle()
        #expect(params.fetches == 0)
    }

    @Test("a message without an id or an address is no update")
    func incomplete() {
        var scene = Scene()
        scene.receive(["ota_job_id": "J1"])
        #expect(scene.reports == ["failed: Aborted. URL not found in JSON"])
        scene.receive(["url": "http://x/1"])
        scene.take(scene.update.receive(Array("{".utf8), at: scene.now))
        #expect(scene.reports.count == 1 && scene.downloads.isEmpty && !scene.update.isUnderWay)
    }

    @Test("a board that asks for approval waits for check and start")
    func approval() {
        var scene = Scene(.approval)
        scene.take(scene.update.operate("check", at: scene.now))
        #expect(scene.fetches == 1)
        scene.receive(["ota_job_id": "J1", "url": "http://x/1", "fw_version": "2.0", "file_size": 1024])
        #expect(scene.reports == ["delayed: Waiting for Approval"] && scene.downloads.isEmpty)
        #expect(scene.values == ["Info": ["ota_job_id": "J1", "fw_version": "2.0", "file_size": 1024]])
        scene.take(scene.update.operate("stop", at: scene.now))
        #expect(scene.downloads.isEmpty)
        scene.take(scene.update.operate("start", at: scene.now))
        #expect(scene.downloads == ["http://x/1"])
        scene.finish(.complete(Self.image()))
        #expect(scene.restarts == 1)
    }

    @Test("an alert's text is sent as it is, and cut at 100 bytes; values are notified")
    func alerts() {
        func sent(_ alerts: Alerts) -> [String] {
            alerts.messages(for: ["Light": ["Power": true]]).map { String(decoding: $0.payload, as: UTF8.self) }
        }
        #expect(sent(Alerts(text: #"Says "hi""#)) == [#"{"esp.alert.str":"Says "hi""}"#])
        #expect(sent(Alerts(text: nil, notifies: true)) == [#"{"Light":{"Power":true}}"#])
        #expect(sent(Alerts(text: nil)) == [])
        let long = Alerts(text: String(repeating: "x", count: 300)).messages(for: [:])
        #expect(long.map(\.payload.count) == [120] && long.map(\.rule) == ["esp_node_alert"])
    }
}
