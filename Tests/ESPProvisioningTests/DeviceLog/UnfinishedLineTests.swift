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
}
