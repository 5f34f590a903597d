// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore

/// What firmware with Improv does on its commands, and what it says of its own accord when its Wi-Fi changes.
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
