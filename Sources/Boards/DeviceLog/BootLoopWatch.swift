// SPDX-License-Identifier: Apache-2.0

/// Notices a board that does not stop restarting: three starts in half a minute.
struct BootLoopWatch: Sendable {
    static let starts = 3
    static let span = Duration.seconds(30)

    /// The last error that the board has logged, without secrets.
    var lastError: String?
    private var times: [Duration] = []

    mutating func restarted(at time: Duration) -> DeviceTrouble? {
        times = times.suffix(Self.starts - 1).filter { time - $0 <= Self.span } + [time]
        guard times.count == Self.starts else { return nil }
        return .bootLoop(last: lastError.map { String($0.prefix(120)) })
    }
}

/// Notices that what comes is no text: another speed, or a binary log.
struct Legibility: Sendable {
    /// So many bytes in a row of which more than a third are no text.
    static let sample = 512
    private var bytes = 0
    private var strange = 0
    private var isTold = false

    mutating func turnsUnreadable(_ line: [UInt8]) -> Bool {
        for byte in line {
            bytes += 1
            let isText = (0x20...0x7E).contains(byte) || byte == 0x09 || byte == 0x1B
            // Block characters of a printed QR code are UTF-8; bytes of another speed seldom are.
            if !isText { strange += 1 }
        }
        guard bytes >= Self.sample else { return false }
        defer { (bytes, strange) = (0, 0) }
        let isUnreadable = strange * 3 > bytes && String(validating: line, as: UTF8.self) == nil
        defer { isTold = isUnreadable }
        return isUnreadable && !isTold
    }
}
