// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO
import RainKitTesting
import TestSupport
import Testing

@Suite("A board's log, fuzzed")
struct LogFuzzTests {
    @Test("whatever the bytes, lines are bounded and no secret of a code comes through")
    func lines() {
        let seeds = (StockLogs.ledLight + StockLogs.older + StockLogs.panic + [StockLogs.switchLine]).map {
            Array($0.utf8)
        }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<(isSoak ? 20_000 : 1000) {
            var line = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !line.isEmpty {
                let index = Int.random(in: line.indices, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: line[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: line.remove(at: index)
                case 2: line.insert(contentsOf: line[index...].prefix(8), at: index)
                default: line = Array(line[..<index]) + (seeds.randomElement(using: &generator) ?? [])
                }
            }
            var reader = DeviceLogReader()
            for _ in 0..<3 { _ = reader.take(line, at: .seconds(1)) }
            #expect(reader.summary.troubles.count <= 8)
            if let name = reader.summary.serviceName { #expect((1...32).contains(name.utf8.count)) }
            _ = LogMask.text(line)
        }
    }
}
