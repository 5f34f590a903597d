// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Testing

@Suite("A log without line ends")
struct UnfinishedLineTests {
    @Test(
        "bytes since the last line end are counted",
        arguments: [("", 0), ("ready> ", 7), ("one\r\n", 0), ("one\rtwo", 3), ("one\ntwo\n> ", 2)])
    func count(text: String, bytes: Int) {
        let log = DeviceLog(now: { .zero })
        // In pieces, as a port delivers it.
        for byte in text.utf8 { log.take([byte]) }
        #expect(log.moment.unfinishedBytes == bytes)
    }

    /// What a board's log becomes whose speed is another: long zeros and ones, seldom a line end.
    @Test("is not text where its bytes are those of another speed", arguments: [[0x00, 0x80, 0xF8, 0xFE, 0x06, 0xE6]])
    func noise(bytes: [UInt8]) {
        let log = DeviceLog(now: { .zero })
        for index in 0..<600 { log.take([bytes[index % bytes.count]]) }
        #expect(log.moment.summary.verdict == .unreadable && log.moment.decided != nil)
    }

    @Test("is text where it is a long line, in whatever language")
    func longLine() {
        for text in ["progress: 12% ", "Grüße 你好 \u{2588}"] {
            let log = DeviceLog(now: { .zero })
            for _ in 0..<300 { log.take(Array(text.utf8)) }
            #expect(log.moment.summary.verdict == nil)
        }
    }
}
