// SPDX-License-Identifier: Apache-2.0

/// Finds Improv's packets in what a board prints, whose log may stand between them and look like the beginning of one.
///
/// A value without a clock. It keeps no more than one packet's bytes. What turns out to be no packet, by its version, its type or its
/// checksum, is looked through again from its second byte on, so that a packet behind a false beginning is not lost.
public struct ImprovReader: Sendable {
    private var pending: [UInt8] = []

    public init() {}

    /// Takes what was read, and returns the packets that are whole now, in order.
    public mutating func take(_ bytes: some Sequence<UInt8>) -> [ImprovFrame] {
        var frames: [ImprovFrame] = []
        for byte in bytes {
            pending.append(byte)
            while let step = step() {
                switch step {
                case .frame(let frame):
                    frames.append(frame)
                    pending.removeAll()
                case .skip: skip()
                }
            }
        }
        return frames
    }

    private enum Step {
        case frame(ImprovFrame)
        case skip
    }

    private static let headerLength = ImprovFrame.header.count
    /// Header, version, type, length.
    private static let preludeLength = headerLength + 3

    /// What the pending bytes are; nil while more are needed.
    private func step() -> Step? {
        guard !pending.isEmpty else { return nil }
        guard zip(pending, ImprovFrame.header).allSatisfy({ $0 == $1 }) else { return .skip }
        guard pending.count > Self.headerLength else { return nil }
        guard pending[Self.headerLength] == ImprovFrame.version else { return .skip }
        guard pending.count > Self.headerLength + 1 else { return nil }
        guard let kind = ImprovFrame.Kind(rawValue: pending[Self.headerLength + 1]) else { return .skip }
        guard pending.count >= Self.preludeLength else { return nil }
        let length = Int(pending[Self.headerLength + 2])
        let end = Self.preludeLength + length
        guard pending.count > end else { return nil }
        guard ImprovFrame.checksum(pending[..<end]) == pending[end] else { return .skip }
        return .frame(ImprovFrame(kind, Array(pending[Self.preludeLength..<end])))
    }

    /// Drops the first byte, and those up to the next that a packet may begin with.
    private mutating func skip() {
        let next = pending.dropFirst().firstIndex(of: ImprovFrame.header[0])
        pending.removeFirst(next ?? pending.count)
    }
}
