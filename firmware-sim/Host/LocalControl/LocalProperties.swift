// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainJSON

/// The properties of a RainMaker node in local control: 0 is `config`, which can only be read, 1 is `params`.
struct LocalProperties {
    private static let readOnly: UInt32 = 1

    private let board: Board
    private let now: UInt64

    init(_ board: Board, now: UInt64) { (self.board, self.now) = (board, now) }

    private var all: [PropertyInfo] {
        [
            PropertyInfo(
                name: Array("config".utf8), type: 1, flags: Self.readOnly, value: board.core.nodeConfiguration),
            PropertyInfo(name: Array("params".utf8), type: 2, flags: 0, value: board.core.nodeParameters),
        ]
    }

    /// Returns nil for a message that firmware does not answer.
    func answer(to bytes: [UInt8]) -> [UInt8]? {
        guard let message = try? LocalControlMessage(decoding: bytes) else { return nil }
        let payload: LocalControlMessage.Payload
        switch (message.message, message.payload) {
        case (.commandGetPropertyCount, _):
            payload = .responseGetPropertyCount(PropertyCountResponse(count: UInt32(all.count)))
        case (.commandGetPropertyValues, .commandGetPropertyValues(let command)?):
            payload = .responseGetPropertyValues(values(command.indices))
        case (.commandSetPropertyValues, .commandSetPropertyValues(let command)?):
            payload = .responseSetPropertyValues(StatusResponse(set(command.properties)))
        default: return nil
        }
        return LocalControlMessage(payload).encoded()
    }

    private func values(_ indices: [UInt32]) -> PropertyValuesResponse {
        let all = all
        guard indices.allSatisfy({ $0 < all.count }) else {
            return PropertyValuesResponse(status: .invalidArgument, [])
        }
        return PropertyValuesResponse(indices.map { all[Int($0)] })
    }

    private func set(_ properties: [PropertyValue]) -> Status {
        let all = all
        guard properties.allSatisfy({ $0.index < all.count && all[Int($0.index)].flags & Self.readOnly == 0 }) else {
            return .invalidArgument
        }
        for property in properties {
            guard let values = RemoteParameters.parse(property.value) else { return .invalidArgument }
            board.set(values, now: now)
        }
        return .success
    }
}

extension FirmwareSim {
    /// Serves the node's properties once the board is on its network, however it got there.
    /// - Returns: the address.
    func serveLocalControl(_ address: BindAddress, _ board: Board, on loop: EventLoop) throws -> String {
        let server = try SoftAPServer(address, board: board, service: .localControl)
        loop.add(server)
        if listening.announce {
            loop.add(
                try AvahiAnnouncement(
                    board, .localControl, port: server.address.port, name: listening.announceAs ?? board.nodeID))
        }
        board.observe { [weak board] event in
            if case .joined = event { board?.startLocalControl() }
        }
        return server.address.description
    }
}
