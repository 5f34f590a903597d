// SPDX-License-Identifier: Apache-2.0

/// One packet of Improv over a serial port: `IMPROV`, the version 1, a type, a length, that many bytes, and a checksum
/// (improv-wifi.com/serial, "Packet format").
public struct ImprovFrame: Sendable, Equatable {
    /// What a packet is; the raw value is its byte.
    public enum Kind: UInt8, Sendable {
        /// From the board: one byte, an ``ImprovState``.
        case state = 1
        /// From the board: one byte, an ``ImprovFailure``.
        case failure = 2
        /// To the board: a command, the length of its data, the data.
        case command = 3
        /// From the board: the command that it answers, the length of its strings, the strings.
        case result = 4
    }

    static let header = Array("IMPROV".utf8)
    static let version: UInt8 = 1

    /// The packet's type.
    public var kind: Kind
    /// At most 255 bytes.
    public var data: [UInt8]

    /// - Parameter data: what is longer than 255 bytes is cut off; no message of the protocol is.
    public init(_ kind: Kind, _ data: [UInt8]) {
        self.kind = kind
        self.data = Array(data.prefix(255))
    }

    /// The bytes on the wire, with the line feed behind them that boards use to flush, and that is no part of the packet.
    public var encoded: [UInt8] {
        let frame = Self.header + [Self.version, kind.rawValue, UInt8(data.count)] + data
        return frame + [Self.checksum(frame), 0x0A]
    }

    /// The low byte of the sum of everything before it.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0, &+) }
}
