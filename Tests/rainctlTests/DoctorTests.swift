// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

@Suite("rainctl doctor")
struct DoctorTests {
    @Test("a disk is full below four megabytes, and never for more than can be counted")
    func room() {
        #expect(!Checkup.hasRoom(1023, blocksOf: 4096) && Checkup.hasRoom(1024, blocksOf: 4096))
        #expect(!Checkup.hasRoom(0, blocksOf: 4096) && Checkup.hasRoom(1 << 60, blocksOf: 4096))
    }
}
