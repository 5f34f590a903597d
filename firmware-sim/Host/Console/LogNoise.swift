// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// Log lines that have nothing to do with anyone's request, where a real board's other tasks would write them.
struct LogNoise {
    private let place: ConsoleNoise
    /// Lines in a second, in the place of one in two seconds; 0 for those.
    private let storm: Int
    private var random: BoardRandom
    /// Storms up to so many lines a second have a pause behind each line.
    private static let linesOfTheirOwn = 1000
    private var lastBurst: UInt64?

    init(_ place: ConsoleNoise, storm: Int = 0, random: BoardRandom) {
        self.place = place
        self.storm = storm
        self.random = random
    }

    /// Randomness for others, which this one's does not follow from.
    mutating func fork() -> BoardRandom { random.fork() }

    /// One or two lines, or none in two cases of three.
    mutating func lines(_ log: BoardLog) -> [UInt8] {
        guard place != .none else { return [] }
        return switch random.number() % 6 {
        case 0: line(log)
        case 1: line(log) + line(log)
        default: []
        }
    }

    mutating func line(_ log: BoardLog) -> [UInt8] {
        let (level, tag, text) = Self.texts[Int(random.number()) % Self.texts.count]
        return log.line(level, tag, text)
    }

    /// The pieces, torn by a line in two cases of three where noise comes inside, and sometimes by two.
    mutating func tearing(_ pieces: [[UInt8]], _ log: BoardLog) -> [UInt8] {
        guard place == .inside, pieces.count > 1 else { return Array(pieces.joined()) }
        var pieces = pieces
        for _ in 0..<random.number() % 3 {
            pieces.insert(line(log), at: 1 + Int(random.number()) % (pieces.count - 1))
        }
        return Array(pieces.joined())
    }

    /// What the board says by itself now that its pause is over: one line, or in a storm all that have come together.
    ///
    /// - Parameter now: in milliseconds.
    mutating func burst(_ log: BoardLog, now: UInt64) -> [UInt8] {
        guard storm > Self.linesOfTheirOwn else { return line(log) }
        defer { lastBurst = now }
        let elapsed = min(now - (lastBurst ?? now), 100)
        return (0..<UInt64(storm) * elapsed / 1000).flatMap { _ in line(log) }
    }

    /// Milliseconds until the board says something by itself again; nil if it never does.
    mutating func pause() -> UInt64? {
        guard storm <= Self.linesOfTheirOwn else { return 2 }
        guard storm == 0 else { return UInt64(random.number()) % UInt64(max(1, 2000 / storm)) }
        return place == .none ? nil : 700 + UInt64(random.number() % 2500)
    }

    private static let texts: [(BoardLog.Level, String, String)] = [
        (.info, "wifi", "new:<6,0>, old:<1,0>, ap:<6,0>, sta:<255,255>, prof:1"),
        (.info, "wifi", "station: 3e:5a:11:22:33:44 join, AID=1, bgn, 20"),
        (.warning, "wifi", "<ba-add>idx:2, ifx:1, tid:0, TAHI:0x1003cbc, TALO:0x44332211, (ssn:0, win:64, cur_ssn:0)"),
        (.info, "esp_netif_lwip", "DHCP server assigned IP to a client, IP is: 192.168.4.2"),
        (.info, "app_network", "SoftAP transport: Connected!"),
        (.info, "esp_rmaker_time", "SNTP already initialized."),
        (.warning, "httpd_txrx", "httpd_sock_err: error in recv : 104"),
    ]
}
