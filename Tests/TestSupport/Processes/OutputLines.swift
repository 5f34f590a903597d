// SPDX-License-Identifier: Apache-2.0

/// What a child has written to one of its streams: kept up to a bound, and handed out line by line.
struct OutputLines: Sendable {
    /// Enough for a verbose server's log of one test; what comes after is dropped and counted.
    static let limit = 8 << 20

    private(set) var bytes: [UInt8] = []
    private(set) var dropped = 0
    private(set) var ended = false
    private var nextLine = 0
    private var searched = 0

    mutating func append(_ more: UnsafeRawBufferPointer) {
        let room = max(0, Self.limit - bytes.count)
        bytes.append(contentsOf: more.prefix(room))
        dropped += max(0, more.count - room)
    }

    mutating func end() { ended = true }

    /// The next line that was not handed out yet, without its line break.
    mutating func takeLine() -> String? {
        if let end = bytes[searched...].firstIndex(of: 0x0A) {
            defer { nextLine = end + 1; searched = end + 1 }
            return String(decoding: bytes[nextLine..<end], as: UTF8.self)
        }
        searched = bytes.count
        guard ended, nextLine < bytes.count else { return nil }
        defer { nextLine = bytes.count }
        return String(decoding: bytes[nextLine...], as: UTF8.self)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}
