// SPDX-License-Identifier: Apache-2.0

/// Notices a port whose two lines are connected: what is written comes back, and nothing else comes.
///
/// A console also echoes what is typed, but answers a CR with CR LF and a prompt. Bytes are counted and not compared in order, because two
/// tasks may write to one port.
public struct LoopbackWatch: Sendable {
    /// So many bytes are not an accident.
    static let significantLength = 8

    /// How often each byte was written and has not come back.
    private var missing = [Int](repeating: 0, count: 256)
    private var returned = 0
    private var isOther = false

    public init() {}

    /// Takes bytes before they are written.
    public mutating func sent(_ bytes: [UInt8]) {
        guard !isOther else { return }
        for byte in bytes { missing[Int(byte)] += 1 }
    }

    /// Takes bytes that were read.
    public mutating func heard(_ bytes: [UInt8]) {
        guard !isOther else { return }
        for byte in bytes {
            missing[Int(byte)] -= 1
            returned += 1
            if missing[Int(byte)] < 0 { isOther = true }
        }
    }

    /// Whether enough came back, and nothing else.
    public var isLoopback: Bool { !isOther && returned >= Self.significantLength }
}
