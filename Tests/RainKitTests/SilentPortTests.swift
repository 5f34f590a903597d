// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Synchronization
import Testing

@testable import RainKit

@Suite("A port on which no board has named itself")
struct SilentPortTests {
    private final class Changes: Sendable {
        private let changes = Mutex([PortChange]())

        func add(_ change: PortChange) { changes.withLock { $0.append(change) } }
        var all: [PortChange] { changes.withLock { $0 } }
    }

    private static let found = ["PROV_5128ca", "PROV_BEEF02"].map { FoundBoard(.bluetooth($0), name: $0) }

    private func port(mac: String?, hasProof: Bool, _ changes: Changes) -> SilentPort {
        SilentPort(
            macAddress: { mac }, hasProof: hasProof, tell: { changes.add($0) },
            look: { found in for board in Self.found { found(board) } })
    }

    @Test("the board of a port with a MAC address is the one whose name ends with its last six digits")
    func match() async {
        let changes = Changes()
        let port = port(mac: "7C:DF:A1:BE:EF:02", hasProof: true, changes)
        #expect(port.board(at: .zero) == nil)
        port.report("/dev/ttyACM0", isSilent: true)
        port.report("/dev/ttyACM0", isSilent: true)
        // The search ends once it has reported its boards.
        await port.end()
        #expect(port.board(at: .zero) == Self.found[1])
        #expect(port.names == ["PROV_5128ca", "PROV_BEEF02"])
        #expect(changes.all.first == .needsRestart("/dev/ttyACM0", isSilent: true, searches: true))
        #expect(changes.all.count == 3, "it is reported once: \(changes.all)")
    }

    @Test("behind a USB bridge, no board is taken for that of the port")
    func bridge() async {
        let changes = Changes()
        let port = port(mac: nil, hasProof: true, changes)
        port.report("/dev/ttyUSB0", isSilent: false)
        // The search ends once it has reported its boards.
        await port.end()
        #expect(port.board(at: .seconds(60)) == nil)
    }

    @Test("without a proof of possession the log is preferred, as long as a restart may bring it")
    func restartFirst() async {
        let changes = Changes()
        let port = port(mac: "7CDFA1BEEF02", hasProof: false, changes)
        port.report("/dev/ttyACM0", isSilent: true)
        // The search ends once it has reported its boards.
        await port.end()
        #expect(port.board(at: .seconds(2)) == nil)
        port.restarted("/dev/ttyACM0", at: .seconds(3))
        #expect(port.board(at: .seconds(5)) == nil)
        #expect(port.board(at: .seconds(6)) == Self.found[1])
        port.cannotRestart()
        #expect(port.board(at: .seconds(6)) == Self.found[1])
    }
}
