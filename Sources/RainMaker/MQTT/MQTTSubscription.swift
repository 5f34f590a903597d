// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// A message that somebody has published.
package struct MQTTMessage: Sendable, Equatable {
    /// The topic of the message.
    package var topic: String
    /// The content, at most 256 KiB.
    package var payload: [UInt8]

    package init(topic: String, payload: [UInt8]) {
        self.topic = topic
        self.payload = payload
    }
}

/// A connection to a broker over WebSocket (MQTT 3.1.1, 6) that subscribes to topics, and then publishes given messages.
///
/// It ends with the task that runs it, with the connection, or if the server does not answer a ping within the agreed time.
package struct MQTTSubscription: Sendable {
    /// The broker and the topics of a subscription.
    package struct Request: Sendable, Equatable {
        /// An `https` or `http` URL, with a query that may hold credentials.
        package var url: String
        /// The value of the `Host` header.
        package var host: String
        /// The path and query of ``url``.
        package var target: String
        /// The id of this client. The broker ends another connection with the same id.
        package var clientID: String
        /// Topic filters (MQTT 3.1.1, 4.7), at most ``MQTTSubscription/topicsPerConnection``.
        package var topics: [String]
        /// The messages to publish once the subscription is accepted, with quality of service 1.
        package var messages: [MQTTMessage] = []
        /// The time in seconds between two pings. After a ping, data must arrive within the same time.
        package var keepAlive: UInt16 = 30

        package init(url: String, host: String, target: String, clientID: String, topics: [String]) {
            (self.url, self.host, self.target) = (url, host, target)
            (self.clientID, self.topics) = (clientID, topics)
        }
    }

    /// The services that a subscription depends on.
    package struct Tools: Sendable {
        /// Opens the connection.
        package var opener: any StreamOpener
        /// Returns this number of unpredictable bytes.
        package var random: @Sendable (_ count: Int) -> [UInt8]
        /// Returns bytes in base64, with padding.
        package var base64: @Sendable (_ bytes: [UInt8]) -> String
        /// SHA-1, for the WebSocket handshake. It protects nothing.
        package var sha1: @Sendable (_ bytes: [UInt8]) -> [UInt8]
        /// Waits for this long. Throws if it is cancelled.
        package var sleep: @Sendable (Duration) async throws -> Void

        package init(
            opener: any StreamOpener, random: @escaping @Sendable (_ count: Int) -> [UInt8],
            base64: @escaping @Sendable (_ bytes: [UInt8]) -> String,
            sha1: @escaping @Sendable (_ bytes: [UInt8]) -> [UInt8],
            sleep: @escaping @Sendable (Duration) async throws -> Void
        ) {
            (self.opener, self.random, self.base64, self.sha1, self.sleep) = (opener, random, base64, sha1, sleep)
        }
    }

    /// An event of the connection.
    package enum Event: Sendable, Equatable {
        /// The broker has accepted the subscription. Messages that are published from now on arrive.
        case subscribed
        /// The broker has taken all messages of the request. It is sent only if there are any.
        case published
        /// Somebody has published something.
        case message(MQTTMessage)
    }

    /// AWS IoT accepts this many subscriptions of one connection, and as many messages that are not acknowledged ("AWS IoT Core message
    /// broker and protocol limits and quotas").
    package static let topicsPerConnection = 50
    /// AWS IoT accepts this many topics in one request.
    static let topicsPerRequest = 8

    private let request: Request
    private let tools: Tools
    /// The time limit from the connection to the subscription.
    private static let openingLimit = Duration.seconds(10)

    package init(_ request: Request, tools: Tools) {
        self.request = request
        self.tools = tools
    }

    /// Connects, subscribes, and passes on messages until an error ends it.
    package func run(_ take: @escaping @Sendable (Event) async -> Void) async throws(MQTTError) -> Never {
        let stream: ByteStream
        do throws(ByteStreamError) {
            stream = try await tools.opener.open(request.url, within: Self.openingLimit)
        } catch {
            throw MQTTError(error)
        }
        let failure = await listen(on: stream, take)
        await stream.close()
        throw failure
    }

    private func listen(on stream: ByteStream, _ take: @escaping @Sendable (Event) async -> Void) async -> MQTTError {
        let liveness = Liveness()
        let failure = await withTaskGroup(of: MQTTError.self) { group in
            group.addTask { await read(stream, liveness, take) }
            group.addTask { await watch(stream, liveness) }
            let first = await group.next()
            group.cancelAll()
            return first ?? MQTTError(.cancelled, "cancelled")
        }
        if failure.code == .cancelled, liveness.isSubscribed {
            // The farewell gets little time, and runs outside the task that has ended.
            let goodbye =
                frame(MQTTPacket.disconnect) + WebSocketFrame.encoded(.close, [0x03, 0xE8], mask: tools.random(4))
            await Task.detached { try? await stream.write(goodbye, within: .milliseconds(200)) }.value
        }
        return failure
    }

    /// Reads until an error occurs.
    private func read(
        _ stream: ByteStream, _ liveness: Liveness, _ take: @Sendable (Event) async -> Void
    ) async -> MQTTError {
        let upgrade = WebSocketUpgrade(
            target: request.target, host: request.host, key: tools.base64(tools.random(16)),
            accept: { tools.base64(tools.sha1($0)) })
        var state = SubscriberState(request, upgrade: upgrade, random: tools.random)
        do throws(MQTTError) {
            try await write(upgrade.request, to: stream)
            while true {
                let bytes: [UInt8]
                do throws(ByteStreamError) { bytes = try await stream.read() } catch {
                    throw state.told(of: MQTTError(error))
                }
                liveness.heard()
                for action in try state.receive(bytes) {
                    // If messages arrive without a pause, reading alone would never notice the cancellation.
                    if Task.isCancelled { throw MQTTError(.cancelled, "cancelled") }
                    switch action {
                    case .send(let bytes): try await write(bytes, to: stream)
                    case .subscribed:
                        liveness.subscribed()
                        await take(.subscribed)
                    case .published: await take(.published)
                    case .message(let message): await take(.message(message))
                    }
                }
            }
        } catch {
            return error
        }
    }

    /// Sends a ping from time to time, and fails if nothing arrives after it.
    ///
    /// Messages that arrive do not replace the ping. The broker ends a connection on which the client sends nothing for one and a half times
    /// the keep-alive time (MQTT 3.1.1, 3.1.2.10).
    private func watch(_ stream: ByteStream, _ liveness: Liveness) async -> MQTTError {
        do throws(MQTTError) {
            while true {
                let limit = liveness.isSubscribed ? Duration.seconds(Int(request.keepAlive)) : Self.openingLimit
                do { try await tools.sleep(limit) } catch { throw MQTTError(.cancelled, "cancelled") }
                switch liveness.next() {
                case .ping: try await write(frame(MQTTPacket.pingRequest), to: stream)
                case .giveUp: throw MQTTError(.timedOut, "\(request.host) did not answer in time")
                }
            }
        } catch {
            return error
        }
    }

    private func frame(_ packet: [UInt8]) -> [UInt8] { WebSocketFrame.encoded(.binary, packet, mask: tools.random(4)) }

    private func write(_ bytes: [UInt8], to stream: ByteStream) async throws(MQTTError) {
        do throws(ByteStreamError) {
            try await stream.write(bytes, within: Self.openingLimit)
        } catch {
            throw MQTTError(error)
        }
    }
}

extension MQTTError {
    fileprivate init(_ error: ByteStreamError) {
        let code: Code =
            switch error.code {
            case .notFound, .refused, .unreachable, .failed: .unreachable
            case .untrusted: .untrusted
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            default: .lost
            }
        self.init(code, error.message)
    }
}

/// The protocol state of a subscriber, from the WebSocket's request to the last message. It does no I/O.
private struct SubscriberState {
    /// The next action for the caller.
    enum Action: Equatable {
        case send([UInt8])
        case subscribed, published
        case message(MQTTMessage)
    }

    private enum Stage { case upgrading(WebSocketUpgrade), connecting, subscribing, subscribed }

    private var stage: Stage
    private var frames = WebSocketFrameReader()
    private var packets = MQTTPacketReader()
    private let subscription: MQTTSubscription.Request
    private let random: @Sendable (Int) -> [UInt8]
    /// The requests that are not acknowledged, by packet identifier: their numbers of topics.
    private var unacknowledged: [UInt16: Int]
    private var requests: [[UInt8]]
    /// The packet identifiers of messages that the server has not taken yet.
    private var unpublished: Set<UInt16> = []

    init(
        _ subscription: MQTTSubscription.Request, upgrade: WebSocketUpgrade,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.subscription = subscription
        self.random = random
        stage = .upgrading(upgrade)
        unacknowledged = [:]
        requests = []
        let size = MQTTSubscription.topicsPerRequest
        for start in stride(from: 0, to: subscription.topics.count, by: size) {
            let topics = Array(subscription.topics[start..<min(start + size, subscription.topics.count)])
            let id = UInt16(requests.count + 1)
            unacknowledged[id] = topics.count
            requests.append(MQTTPacket.subscribe(id: id, topics: topics))
        }
    }

    /// Takes bytes from the server, and returns the next actions.
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

    /// Interprets the end of the connection. If a client may not connect or subscribe, AWS IoT closes the connection without a message.
    func told(of end: MQTTError) -> MQTTError {
        switch stage {
        case .connecting where end.code == .lost, .subscribing where end.code == .lost:
            MQTTError(.notAllowed, "the server has closed the connection instead of accepting the subscription")
        case .subscribed where end.code == .lost && !unpublished.isEmpty:
            MQTTError(.notAllowed, "the server has closed the connection instead of accepting the message")
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
            return unacknowledged.isEmpty ? subscribed() : requests.map { .send(frame($0)) }
        case (.connectAcknowledgement(let code), .connecting):
            // 4 and 5 are about credentials, 3 is a server that is unavailable (3.2.2.3).
            throw MQTTError(code == 3 ? .unreachable : .refused, "the server refuses the connection (code \(code))")
        case (.subscribeAcknowledgement(let id, let codes), .subscribing) where unacknowledged[id] != nil:
            guard codes.count == unacknowledged.removeValue(forKey: id), !codes.contains(where: { $0 > 2 }) else {
                throw MQTTError(.notAllowed, "the server refuses the subscription")
            }
            return unacknowledged.isEmpty ? subscribed() : []
        case (.publishAcknowledged(let id), .subscribed) where unpublished.contains(id):
            unpublished.remove(id)
            return unpublished.isEmpty ? [.published] : []
        case (.pingResponse, .subscribed): return []
        // A message may come before the acknowledgement of its subscription (3.8.4).
        case (.publish(let topic, let payload, let id), .subscribing),
            (.publish(let topic, let payload, let id), .subscribed):
            let message = Action.message(MQTTMessage(topic: topic, payload: payload))
            return [message] + (id.map { [.send(frame(MQTTPacket.publishAcknowledgement(id: $0)))] } ?? [])
        default: throw MQTTError(.malformed, "the server sent an unexpected MQTT packet")
        }
    }

    /// Publishes the messages, now that their answers can arrive.
    private mutating func subscribed() -> [Action] {
        stage = .subscribed
        var actions: [Action] = [.subscribed]
        for (index, message) in subscription.messages.enumerated() {
            let id = UInt16(requests.count + 1 + index)
            unpublished.insert(id)
            actions.append(.send(frame(MQTTPacket.publish(message, id: id))))
        }
        return actions
    }
}

/// Decides whether the server is still there, from the bytes that arrive and the time that passes.
final class Liveness: Sendable {
    private struct State {
        var isSubscribed = false
        /// Whether nothing has arrived since the last ping.
        var isPingUnanswered = false
    }
    /// The next step after some time has passed.
    enum Step: Equatable { case ping, giveUp }

    private let state = Mutex(State())

    var isSubscribed: Bool { state.withLock { $0.isSubscribed } }

    func subscribed() { state.withLock { $0.isSubscribed = true } }

    func heard() { state.withLock { $0.isPingUnanswered = false } }

    func next() -> Step {
        state.withLock { state in
            guard state.isSubscribed, !state.isPingUnanswered else { return .giveUp }
            state.isPingUnanswered = true
            return .ping
        }
    }
}

/// The reason why a subscription failed or ended.
package struct MQTTError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `refused`.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unreachable, untrusted, refused, notAllowed, lost, timedOut, malformed, cancelled
        }
        private let value: Value
        package var description: String { value.rawValue }

        /// No connection could be made.
        package static let unreachable = Code(value: .unreachable)
        /// The server's certificate is not trusted, or no secure channel could be set up.
        package static let untrusted = Code(value: .untrusted)
        /// The server refuses this client: its credentials are wrong or have expired.
        package static let refused = Code(value: .refused)
        /// The client may not subscribe to this topic.
        package static let notAllowed = Code(value: .notAllowed)
        /// The connection ended.
        package static let lost = Code(value: .lost)
        /// The server did not answer in time.
        package static let timedOut = Code(value: .timedOut)
        /// The data is not WebSocket or not MQTT, or it is too large.
        package static let malformed = Code(value: .malformed)
        /// The calling task was cancelled.
        package static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure.
    package var code: Code
    /// A description for people. It contains no credentials, and no address except the host's.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code): \(message)" }
}
