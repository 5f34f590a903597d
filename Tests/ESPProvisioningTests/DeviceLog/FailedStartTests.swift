// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Synchronization
import Testing

@Suite("Boards that do not come up, by their log")
struct FailedStartTests {
    private static let start = ["ESP-ROM:esp32c3-api1-20210207", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)"]
    private static let application = ["I (30) app_init: Project name:     led_light"]
    private static let service = ["I (90) network_prov_mgr: Provisioning started with service name : PROV_1 "]
    private static let failures = [
        ["invalid header: 0xffffffff"], ["E (49) boot: No bootable app partitions in the partition table"],
        ["E (30) boot_comm: mismatch chip ID, expected 5, found 9"],
    ]

    private func log(_ starts: [[String]]) -> DeviceLog.Moment {
        let clock = Mutex(Duration.zero)
        let log = DeviceLog(now: { clock.withLock { $0 } })
        for lines in starts {
            clock.withLock { $0 += .milliseconds(400) }
            log.take(Array((Self.start + lines).map { $0 + "\r\n" }.joined().utf8))
        }
        return log.moment
    }

    @Test("two failed starts in a row are enough, the third has not to be waited for", arguments: failures)
    func twice(failure: [String]) {
        #expect(!log([failure]).failsToStart && log([failure]).decided == .milliseconds(400))
        #expect(log([failure, failure]).failsToStart)
        // The next start has begun, and says nothing yet.
        #expect(log([failure, failure, []]).failsToStart)
        #expect(!log([failure, []]).failsToStart && log([failure, []]).decided == nil)
    }

    @Test("a successful start between them resets the count", arguments: failures)
    func between(failure: [String]) {
        #expect(!log([failure, Self.application + Self.service, failure]).failsToStart)
        #expect(!log([failure, Self.application, failure]).failsToStart)
    }

    @Test("crash after crash is known at the fourth start, a person who presses RESET three times is no loop")
    func crashes() {
        let crash = ["Guru Meditation Error: Core  0 panic'ed (Load access fault). Exception was unhandled."]
        #expect(!log(Array(repeating: Self.application + crash, count: 3)).failsToStart)
        #expect(log(Array(repeating: Self.application + crash, count: 4)).failsToStart)
        let resets = log([Self.application, Self.application, Self.application + Self.service])
        #expect(!resets.failsToStart && resets.decided != nil && !resets.summary.isDown)
    }

    @Test("the trouble during a call is the crash, not the restarts that it causes")
    func taken() {
        let log = DeviceLog(now: { .zero })
        let crash = ["Guru Meditation Error: Core  0 panic'ed (Load access fault). ", "Rebooting..."]
        let watchdog = ["ESP-ROM:esp32c3-api1-20210207", "rst:0x7 (TG0WDT_SYS_RST),boot:0xc (SPI_FAST_FLASH_BOOT)"]
        func take(_ lines: [String]) { log.take(Array(lines.map { $0 + "\r\n" }.joined().utf8)) }
        for _ in 0..<4 { take(watchdog + crash) }
        take(watchdog)
        #expect(log.takeTrouble()?.code == "crash")
        #expect(log.takeTrouble() == nil)
        // Without a crash, the restarts are the trouble.
        for _ in 0..<4 { take(watchdog) }
        #expect(log.takeTrouble()?.isLoop == true)
    }

    @Test("an application that starts from the next partition is waited for")
    func otherPartition() {
        let bad = ["E (44) esp_image: image at 0x20000 has invalid magic byte (nothing flashed here?)"]
        let moment = log([bad + Self.application])
        #expect(moment.decided == nil && !moment.summary.isDown && moment.summary.verdict == nil)
        #expect(log([bad]).summary.isDown)
        #expect(!log([bad + Self.application, bad + Self.application]).failsToStart)
    }
}
