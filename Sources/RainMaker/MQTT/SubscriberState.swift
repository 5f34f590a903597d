// SPDX-License-Identifier: Apache-2.0

/// What a subscriber has to say and has heard, from the WebSocket's request to the last message. It does no I/O.
struct SubscriberState {
    /// What is to be done next.
    enum Action: Equatable {
        case send([UInt8])
        case subscribed
        case message(MQTTMessage)
    }

    private enum Stage { case upgrading(WebSocketUpgrade), connecting, subscribing, subscribed }

    private var stage: Stage
    private var frames = WebSocketFrameReader()
    private var packets = MQTTPacketReader()
    private let subscription: MQTTSubscription.Request
    private let random: @Sendable (Int) -> [UInt8]

    /// The first and only packet identifier: nothing else of ours has one.
    private static let subscribeID: UInt16 = 1

    init(
        _ subscription: MQTTSubscription.Request, upgrade: WebSocketUpgrade,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.subscription = subscription
        self.random = random
        stage = .upgrading(upgrade)
    }

    /// Takes bytes from the server.
    mutating func receive(_ bytes: [UInt8]) throws(MQTTError) -> [Action] {
        guard case .upgrading(var upgrade) = stage else { return try receiveFrames(bytes) }
        let rest = try upgrade.receive(bytes)
        guard let rest else {
            stage = .upgrading(upgrade)
            return []
        }
        stage = .connecting
        let connect = MQTTPacket.connect(clientID: subscription.clientID, keepAlive: subscription.keepAlive)
        return [.send(frame(connect))] + (try receiveFrames(rest))
    }

    /// The end of the connection, as it is to be understood. AWS IoT says nothing of a client that may not connect or subscribe: it closes the
    /// connection.
    func told(of end: MQTTError) -> MQTTError {
        switch stage {
        case .connecting where end.code == .lost, .subscribing where end.code == .lost:
            MQTTError(.notAllowed, "the server has closed the connection instead of subscribing")
        default: end
        }
    }

    private func frame(_ packet: [UInt8]) -> [UInt8] { WebSocketFrame.encoded(.binary, packet, mask: random(4)) }

    private mutating func receiveFrames(_ bytes: [UInt8]) throws(MQTTError) -> [Action] {
        var actions: [Action] = []
        for event in try frames.receive(bytes) {
            switch event {
            case .ping(let payload): actions.append(.send(WebSocketFrame.encoded(.pong, payload, mask: random(4))))
            case .close: throw told(of: MQTTError(.lost, "the server has closed the connection"))
            case .data(let payload):
                for packet in try packets.receive(payload) { actions += try take(packet) }
            }
        }
        return actions
    }

    private mutating func take(_ packet: MQTTPacket) throws(MQTTError) -> [Action] {
        switch (packet, stage) {
        case (.connectAcknowledgement(code: 0), .connecting):
            stage = .subscribing
            return [.send(frame(MQTTPacket.subscribe(id: Self.subscribeID, topics: subscription.topics)))]
        case (.connectAcknowledgement(let code), .connecting):
            // 4 and 5 are about credentials, 3 is a server that is unavailable (3.2.2.3).
            throw MQTTError(code == 3 ? .unreachable : .refused, "the server refuses the connection (code \(code))")
        case (.subscribeAcknowledgement(Self.subscribeID, let codes), .subscribing):
            guard codes.count == subscription.topics.count, !codes.contains(where: { $0 > 2 }) else {
                throw MQTTError(.notAllowed, "the server refuses the subscription")
            }
            stage = .subscribed
            return [.subscribed]
        case (.pingResponse, .subscribed): return []
        // A message may come before the acknowledgement of its subscription (3.8.4).
        case (.publish(let topic, let payload, let id), .subscribing),
            (.publish(let topic, let payload, let id), .subscribed):
            let message = Action.message(MQTTMessage(topic: topic, payload: payload))
            return [message] + (id.map { [.send(frame(MQTTPacket.publishAcknowledgement(id: $0)))] } ?? [])
        default: throw MQTTError(.malformed, "an MQTT packet out of its order")
        }
    }
}
