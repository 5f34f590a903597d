// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import TestSupport
import Testing

@testable import firmware_sim

/// Options for what a board does to be claimed.
@Suite("The node's key")
struct NodeKeyTests {
    @Test(
        "claim faults and addresses are read, and nonsense is not",
        arguments: [
            ("not-ready", ClaimFault.notReady), ("lose-fragment=2", .loseFragment(2)),
            ("oversize-csr", .oversizeRequest),
            ("wrong-csr", .wrongRequest), ("reboot-at=start", .reboot(at: .start)),
            ("reboot-at=init", .reboot(at: .initiate)),
            ("reboot-at=csr", .reboot(at: .request)), ("reboot-at=verify", .reboot(at: .certificate)),
            ("reboot-at=store", .reboot(at: .lastCertificate)), ("reboot-at=noon", nil), ("lose-fragment", nil),
            ("lose-fragment=0", nil), ("not-ready=1", nil), ("", nil),
        ] as [(String, ClaimFault?)])
    func options(text: String, fault: ClaimFault?) {
        #expect(ClaimFaultOption(argument: text)?.fault == fault)
    }

    @Test("nodes are chosen from a file by their order or by an id")
    func nodes() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.file("nodes.json")
            try folder.write(
                #"{"nodes":{"b":{"cert":"b.crt","key":"b.key"},"a":{"cert":"a.crt","key":"a.key"}}}"#, to: "nodes.json")
            #expect(try NodeFiles.read(file, id: nil, count: 1).map(\.id) == ["a"])
            #expect(try NodeFiles.read(file, id: "b", count: 1).map(\.key) == ["b.key"])
            let absent = #expect(throws: StartError.self) { try NodeFiles.read(file, id: "c", count: 1) }
            #expect(absent.map { "\($0)" }?.contains("has no node c: it has a, b") == true)
        }
    }

    @Test("an address is twelve hex digits, however they are written")
    func address() {
        #expect(MACAddressOption(argument: "7c:df:a1:00:00:01")?.address == [0x7C, 0xDF, 0xA1, 0, 0, 1])
        #expect(MACAddressOption(argument: "7CDFA1000001")?.address == [0x7C, 0xDF, 0xA1, 0, 0, 1])
        for bad in ["", "7CDFA100000", "7CDFA10000011", "7CDFA100000G", "٧CDFA100000", "7CDFA10000+1"] {
            #expect(MACAddressOption(argument: bad) == nil)
        }
    }
}
