// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore

/// The reading half of Improv over a serial port, as in firmware: it finds packets in all input, without echo or prompt.
///
/// It follows the protocol's description (improv-wifi.com/serial) and not our client's reader, so that the two check each other.
struct ImprovConsoleInput: ConsoleInput {
    private var bytes: [UInt8] = []
    private var commands: [[[UInt8]]] = []
    private var output: [UInt8] = []
    private var isRunning = false
    let greeting: [UInt8] = ImprovPacket.state(2)

    mutating func receive(_ chunk: [UInt8]) {
        for byte in chunk { take(byte) }
    }

    /// Reads like the SDKs: position by position, and from the beginning again at the first byte that does not fit.
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
        // An echo of our own packet, or a packet of another board.
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

/// The packets of a board with Improv.
private enum ImprovPacket {
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

/// The reactions of firmware with Improv to commands, and its own messages when its Wi-Fi changes.
final class ImprovCommands: ConsoleCommands {
    private let faults: ConsoleFaults
    private var state: UInt8 = 2

    init(_ faults: ConsoleFaults) { self.faults = faults }

    func run(_ words: [[UInt8]], board: Board, log: BoardLog) -> CommandOutcome {
        guard words.count == 2, let command = words[0].first else { return .output([]) }
        let data = words[1]
        switch command {
        case 1: return .output(join(data, board))
        case 2: return .output(ImprovPacket.state(state) + (state == 4 ? url(2, board) : []))
        case 3:
            let strings = ["improv_example", "1.0.0", "ESP32-C3", board.identity.name].map { Array($0.utf8) }
            return .output(ImprovPacket.result(3, strings))
        case 4:
            let networks = board.core.machine.radio.accessPoints.filter { !$0.isHidden }
            let results = networks.flatMap { network in
                ImprovPacket.result(
                    4,
                    [
                        network.ssid, Array("\(network.rssi)".utf8),
                        Array((network.authentication == .open ? "NO" : "YES").utf8),
                    ])
            }
            return .output(results + ImprovPacket.result(4, []))
        default: return .output(ImprovPacket.failure(2))
        }
    }

    func resume(board: Board, log: BoardLog) -> CommandOutcome { .output([]) }

    func announcement(of event: DeviceEvent, board: Board) -> [UInt8] {
        switch event {
        case .joined:
            state = 4
            if faults.isSilentOnSuccess { return [] }
            let told = ImprovPacket.state(4)
            return faults.resultComesFirst ? url(1, board) + told : told + url(1, board)
        case .attemptFailed, .joinFailed:
            guard state == 3 else { return [] }
            state = 2
            return ImprovPacket.failure(3) + ImprovPacket.state(2)
        default: return []
        }
    }

    private func join(_ data: [UInt8], _ board: Board) -> [UInt8] {
        if faults.waitsForButton { return ImprovPacket.failure(4) }
        if faults.isStopped {
            state = 0
            return ImprovPacket.state(0)
        }
        guard let length = data.first.map(Int.init), data.count > length + 1, (1...32).contains(length),
            data.count == length + 2 + Int(data[length + 1])
        else { return ImprovPacket.failure(1) }
        let credentials = WiFiCredentials(ssid: Array(data[1...length]), passphrase: Array(data[(length + 2)...]))
        guard board.step({ $0.provision(credentials, now: MonotonicClock.now) }) else {
            return ImprovPacket.failure(0xFF)
        }
        state = 3
        return ImprovPacket.state(3)
    }

    private func url(_ command: UInt8, _ board: Board) -> [UInt8] {
        let address = Array("http://".utf8) + board.core.machine.radio.address
        return ImprovPacket.result(command, faults.hasNoURL ? [] : [address])
    }
}
