// SPDX-License-Identifier: Apache-2.0

/// The reading half of Improv over a serial port, as firmware has it: packets out of whatever is typed, no echo, no prompt.
///
/// Written from the protocol's description (improv-wifi.com/serial) and not from our client's reader, so that the two check each other.
struct ImprovConsoleInput: ConsoleInput {
    private var bytes: [UInt8] = []
    private var commands: [[[UInt8]]] = []
    private var output: [UInt8] = []
    private var isRunning = false
    let greeting: [UInt8] = ImprovPacket.state(2)

    mutating func receive(_ chunk: [UInt8]) {
        for byte in chunk { take(byte) }
    }

    /// As the SDKs read it: position by position, and from the beginning again at the first byte that does not fit.
    private mutating func take(_ byte: UInt8) {
        let position = bytes.count
        let fits =
            switch position {
            case 0..<6: byte == Array("IMPROV".utf8)[position]
            case 6: byte == 1
            default: true
            }
        guard fits else {
            bytes = byte == UInt8(ascii: "I") ? [byte] : []
            return
        }
        bytes.append(byte)
        guard bytes.count > 9, bytes.count == 10 + Int(bytes[8]) else { return }
        let packet = bytes
        bytes = []
        guard packet.dropLast().reduce(0, &+) == byte else {
            output += ImprovPacket.failure(1)
            return
        }
        // An echo of our own, or of another board.
        guard packet[7] == 3 else { return }
        let data = Array(packet[9..<(packet.count - 1)])
        guard data.count >= 2, Int(data[1]) == data.count - 2, commands.count < 64 else {
            output += ImprovPacket.failure(1)
            return
        }
        commands.append([[data[0]], Array(data[2...])])
    }

    mutating func next() -> ConsoleStep? {
        guard !isRunning else { return nil }
        guard output.isEmpty else {
            defer { output = [] }
            return .write(output)
        }
        guard !commands.isEmpty else { return nil }
        isRunning = true
        return .run(commands.removeFirst())
    }

    mutating func finish() { isRunning = false }
}

/// What such a board sends.
enum ImprovPacket {
    static func state(_ value: UInt8) -> [UInt8] { packet(1, [value]) }
    static func failure(_ value: UInt8) -> [UInt8] { packet(2, [value]) }
    static func result(_ command: UInt8, _ strings: [[UInt8]]) -> [UInt8] {
        let data = strings.flatMap { [UInt8($0.count)] + $0 }
        return packet(4, [command, UInt8(data.count)] + data)
    }

    private static func packet(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
        let body = Array("IMPROV".utf8) + [1, type, UInt8(data.count)] + data
        return body + [body.reduce(0, &+), ConsoleText.lineFeed]
    }
}
