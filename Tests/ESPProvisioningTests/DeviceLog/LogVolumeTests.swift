// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Synchronization
import TestSupport
import Testing

@Suite("A board's log, by the day")
struct LogVolumeTests {
    /// In bytes: a day at 115,200 baud in a soak, and half a minute of it otherwise.
    private static let volume = isSoak ? 86_400 * 11_520 : 30 * 11_520

    @Test("whoever listens holds no more of it than at the beginning")
    func memory() async throws {
        try await withOwnProcessInSoak {
            let start = (StockLogs.ledLight + StockLogs.panic + StockLogs.older).joined(separator: "\r\n") + "\r\n"
            let running = (0..<2000).map { "I (\($0)) wifi: new:<6,0>, old:<1,0>, ap:<6,0>, sta:<255,255>, prof:1\r\n" }
            // A line without an end, and one that is not text.
            let odd =
                [UInt8](repeating: 0x55, count: 100_000) + [0x0A] + (0..<4096).map { UInt8(truncatingIfNeeded: $0) }
            let hour = Array(start.utf8) + running.flatMap { Array($0.utf8) } + odd
            let began = ContinuousClock.now
            let lines = LineCount()
            let log = DeviceLog(
                now: { ContinuousClock.now - began }, line: { _ in lines.value.wrappingAdd(1, ordering: .relaxed) })
            if isSoak { for _ in 0..<20 { feed(hour, log) } }
            let before = SoakProcess.memory?() ?? 0
            var fed = 0
            while fed < Self.volume {
                feed(hour, log)
                fed += hour.count
            }
            let grown = (SoakProcess.memory?() ?? 0) - before
            #expect(grown < 4 << 20, "\(grown) bytes more after \(fed)")
            #expect(lines.value.load(ordering: .relaxed) > 2000 && log.moment.summary.troubles.count <= 8)
        }
    }

    private final class LineCount: Sendable { let value = Atomic(0) }

    private func feed(_ bytes: [UInt8], _ log: DeviceLog) {
        var rest = bytes[...]
        while !rest.isEmpty {
            log.take(Array(rest.prefix(4093)))
            rest = rest.dropFirst(4093)
        }
    }
}
