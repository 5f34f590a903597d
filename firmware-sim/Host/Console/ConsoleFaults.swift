// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// What goes wrong on the way from the board to the client's port.
struct ConsoleFaults {
    /// Fractions of the lines and bytes that get lost, or come twice.
    var droppedLines = 0.0
    var doubledLines = 0.0
    var droppedBytes = 0.0
    var doubledBytes = 0.0
    /// Log lines of other tasks in every second, in the place of one in two seconds.
    var storm = 0
    /// The wire's speed, in baud of ten bits a byte; nil for a pty's own.
    var baud: Int?
    /// Milliseconds after the first opening at which the port goes away; it is back a third of a second later.
    var replug: UInt64?

    /// Of Improv: a result without an address; the result before the state; nothing at all on success; a port that goes away then; a board
    /// that takes no settings any more, or none before its button is pressed.
    var hasNoURL = false
    var resultComesFirst = false
    var isSilentOnSuccess = false
    var replugsOnSuccess = false
    var isStopped = false
    var waitsForButton = false

    /// Takes `KEY=VALUE`; false where there is no such fault, or no such value.
    mutating func set(_ text: String) -> Bool {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let number = Double(parts[1]), number >= 0, number <= 10_000_000 else { return false }
        switch parts[0] {
        case "drop-line" where number <= 1: droppedLines = number
        case "double-line" where number <= 1: doubledLines = number
        case "drop-byte" where number <= 1: droppedBytes = number
        case "double-byte" where number <= 1: doubledBytes = number
        case "storm" where number <= 100_000: storm = Int(number)
        case "baud" where number >= 300: baud = Int(number)
        case "replug" where number <= 3600: replug = UInt64(number * 1000)
        case "no-url" where number == 1: hasNoURL = true
        case "result-first" where number == 1: resultComesFirst = true
        case "silent-success" where number == 1: isSilentOnSuccess = true
        case "replug-on-success" where number == 1: replugsOnSuccess = true
        case "stopped" where number == 1: isStopped = true
        case "button" where number == 1: waitsForButton = true
        default: return false
        }
        return true
    }

    /// What arrives of some lines.
    func applied(to bytes: [UInt8], _ random: inout BoardRandom) -> [UInt8] {
        var arrived = bytes
        if droppedLines > 0 || doubledLines > 0 {
            arrived = []
            for line in Self.lines(bytes) {
                // What has no end yet is part of a line that goes on, such as an echo or a prompt.
                let isWhole = line.last == ConsoleText.lineFeed && line.count > 2
                if isWhole, happens(droppedLines, &random) { continue }
                arrived += line
                if isWhole, happens(doubledLines, &random) { arrived += line }
            }
        }
        guard droppedBytes > 0 || doubledBytes > 0 else { return arrived }
        var bytes: [UInt8] = []
        for byte in arrived {
            if happens(droppedBytes, &random) { continue }
            bytes.append(byte)
            if happens(doubledBytes, &random) { bytes.append(byte) }
        }
        return bytes
    }

    private func happens(_ fraction: Double, _ random: inout BoardRandom) -> Bool {
        fraction > 0 && Double(random.number()) < fraction * 4_294_967_296
    }

    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == ConsoleText.lineFeed {
            lines.append(bytes[start...index])
            start = index + 1
        }
        if start < bytes.count { lines.append(bytes[start...]) }
        return lines
    }
}
