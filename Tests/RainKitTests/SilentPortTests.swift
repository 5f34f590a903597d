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
            schemes: ["ble", "softap"],
            look: { found, unavailable in
                unavailable("softap")
                for board in Self.found { found(board) }
            })
    }

    @Test("only the transports that can search are named", arguments: [["ble", "softap"], ["softap"], []])
    func searches(usable: [String]) async throws {
        let changes = Changes()
        let port = SilentPort(
            macAddress: { nil }, hasProof: true, tell: { changes.add($0) }, schemes: ["ble", "softap"],
            look: { _, unavailable in
                for scheme in ["ble", "softap"] where !usable.contains(scheme) { unavailable(scheme) }
                // Without a transport, the search ends at once.
                if !usable.isEmpty { try? await Task.sleep(for: .seconds(3600)) }
            })
        port.report("/dev/ttyUSB0", isSilent: true)
        while changes.all.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        await port.end()
        #expect(changes.all == [.needsRestart("/dev/ttyUSB0", isSilent: true, searches: usable)])
    }

    @Test("a port whose board was opened meanwhile is not reported")
    func openedMeanwhile() async {
        let changes = Changes()
        let port = SilentPort(
            macAddress: { nil }, hasProof: true, tell: { changes.add($0) }, schemes: ["ble"],
            look: { _, _ in _ = try? await Task.sleep(for: .seconds(3600)) })
        port.report("/dev/ttyUSB0", isSilent: true)
        await port.end()
        #expect(changes.all.isEmpty)
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
        #expect(changes.all.first == .needsRestart("/dev/ttyACM0", isSilent: true, searches: ["ble"]))
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
