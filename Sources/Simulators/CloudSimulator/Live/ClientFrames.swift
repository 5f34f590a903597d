// SPDX-License-Identifier: Apache-2.0

/// Reads a client's WebSocket frames (RFC 6455, 5.2), which are masked.
struct ClientFrames {
    enum Frame: Equatable { case data([UInt8]), ping([UInt8]), close }
    /// A client that breaks the rules: its connection is ended.
    struct Violation: Error {}

    private static let maximumPayload = 256 << 10
    private var pending: [UInt8] = []

    mutating func append(_ bytes: [UInt8]) { pending += bytes }

    /// Nil while there is no whole frame; a pong is skipped.
    mutating func next() throws(Violation) -> Frame? {
        while true {
            guard pending.count >= 2 else { return nil }
            let (opcode, short) = (pending[0] & 0x0F, pending[1] & 0x7F)
            guard pending[0] & 0x70 == 0, pending[1] & 0x80 != 0 else { throw Violation() }
            let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
            let head = 2 + lengthBytes + 4
            guard pending.count >= head else { return nil }
            let length =
                lengthBytes == 0 ? UInt64(short) : pending[2..<2 + lengthBytes].reduce(0) { $0 << 8 | UInt64($1) }
            guard length <= UInt64(Self.maximumPayload) else { throw Violation() }
            let size = Int(length)
            guard pending.count >= head + size else { return nil }
            let mask = Array(pending[head - 4..<head])
            let payload = pending[head..<head + size].enumerated().map { $1 ^ mask[$0 & 3] }
            pending.removeFirst(head + size)
            switch opcode {
            case 0, 2: return .data(payload)
            case 8: return .close
            case 9: return .ping(payload)
            case 10: continue
            default: throw Violation()
            }
        }
    }

    /// A server's frame, which is not masked.
    static func encoded(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let head: [UInt8] =
            switch payload.count {
            case ...125: [UInt8(payload.count)]
            case ...0xFFFF: [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            default: [127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
            }
        return [0x80 | opcode] + head + payload
    }
}
