// SPDX-License-Identifier: Apache-2.0
import DeviceCore

/// The outcome of a write.
enum GATTWriteOutcome: Sendable, Equatable {
    case acknowledged
    case refused(ATTError, closesLink: Bool)
    /// The handler occupies the board's one task; the write is answered when it is done.
    case later
}

/// The values behind a board's characteristics while one central is connected, by the rules of ESP-IDF's protocomm.
///
/// A write runs the handler and is acknowledged when that is done; the answer lies in the characteristic for the reads that
/// follow, until the next write or the end of the link.
struct GATTValues: Sendable {
    let stack: GATTStack
    /// The longest value either way, in bytes.
    let limit: Int
    private var values: [Int: [UInt8]] = [:]

    init(stack: GATTStack, limit: Int? = nil) {
        self.stack = stack
        self.limit = limit ?? stack.valueLimit
    }

    /// The stack's own verdict on a write; nil where the handler is to run.
    func verdict(onWriting value: [UInt8], offset: Int) -> GATTWriteOutcome? {
        guard offset == 0 else { return .refused(.invalidOffset, closesLink: false) }
        // Acknowledged, and nothing changes: the next read gives the answer before.
        guard !value.isEmpty else { return .acknowledged }
        guard value.count <= limit else { return .refused(.invalidValueLength, closesLink: false) }
        return nil
    }

    /// Takes what the handler answered.
    mutating func take(_ answer: DeviceAnswer, at characteristic: Int) -> GATTWriteOutcome {
        switch answer {
        case .later: return .later
        case .refused: return .refused(stack.handlerFailure, closesLink: stack.closesOnFailure)
        case .reply(let reply):
            guard reply.count <= limit else { return .refused(.invalidValueLength, closesLink: false) }
            values[characteristic] = reply
            return .acknowledged
        }
    }

    /// A read, short or long: what follows `offset`. Empty before any write.
    func read(_ characteristic: Int, offset: Int) throws(ATTError) -> [UInt8] {
        let value = values[characteristic] ?? []
        guard (0...value.count).contains(offset) else { throw .invalidOffset }
        return Array(value[offset...])
    }

    /// The link is gone.
    mutating func clear() { values = [:] }
}
