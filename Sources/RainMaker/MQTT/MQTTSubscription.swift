// SPDX-License-Identifier: Apache-2.0
import RainIO

/// What somebody has published.
public struct MQTTMessage: Sendable, Equatable {
    /// Where it was published.
    public var topic: String
    /// At most 256 KiB.
    public var payload: [UInt8]

    public init(topic: String, payload: [UInt8]) {
        self.topic = topic
        self.payload = payload
    }
}

/// One connection to a broker over WebSocket (MQTT 3.1.1, 6), which listens to topics and publishes nothing.
///
/// It ends with the task that runs it, with the connection, or when the server does not answer a ping within the time that was agreed on.
public struct MQTTSubscription: Sendable {
    /// What to listen to, and where.
    public struct Request: Sendable, Equatable {
        /// An `https` or `http` URL, with a query that may hold credentials.
        public var url: String
        /// The `Host` of the WebSocket's request.
        public var host: String
        /// Path and query of ``url``.
        public var target: String
        /// The broker ends another connection of the same id.
        public var clientID: String
        /// Topic filters (MQTT 3.1.1, 4.7).
        public var topics: [String]
        /// Seconds of silence after which a ping is sent, and within which something has to come then.
        public var keepAlive: UInt16 = 30

        public init(url: String, host: String, target: String, clientID: String, topics: [String]) {
            (self.url, self.host, self.target) = (url, host, target)
            (self.clientID, self.topics) = (clientID, topics)
        }
    }

    /// What a subscription works with and does not make itself.
    public struct Tools: Sendable {
        /// Opens the connection.
        public var opener: any StreamOpener
        /// So many unpredictable bytes.
        public var random: @Sendable (_ count: Int) -> [UInt8]
        /// Base64 of bytes, with padding.
        public var base64: @Sendable (_ bytes: [UInt8]) -> String
        /// SHA-1, which the WebSocket's handshake is made with; nothing is protected by it.
        public var sha1: @Sendable (_ bytes: [UInt8]) -> [UInt8]
        /// Waits for so long; throws when it is cancelled.
        public var sleep: @Sendable (Duration) async throws -> Void

        public init(
            opener: any StreamOpener, random: @escaping @Sendable (_ count: Int) -> [UInt8],
            base64: @escaping @Sendable (_ bytes: [UInt8]) -> String,
            sha1: @escaping @Sendable (_ bytes: [UInt8]) -> [UInt8],
            sleep: @escaping @Sendable (Duration) async throws -> Void
        ) {
            (self.opener, self.random, self.base64, self.sha1, self.sleep) = (opener, random, base64, sha1, sleep)
        }
    }

    /// What becomes of the connection.
    public enum Event: Sendable, Equatable {
        /// The broker has taken the subscription: what is published from now on arrives.
        case subscribed
        /// Somebody has published something.
        case message(MQTTMessage)
    }

    private let request: Request
    private let tools: Tools
    /// From the connection to the subscription.
    private static let openingLimit = Duration.seconds(10)

    public init(_ request: Request, tools: Tools) {
        self.request = request
        self.tools = tools
    }

    /// Connects, subscribes, and hands on what comes until it ends: always by an error.
    public func run(_ take: @escaping @Sendable (Event) async -> Void) async throws(MQTTError) -> Never {
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
            // Not for long, and not as part of the task that has ended.
            let goodbye =
                frame(MQTTPacket.disconnect) + WebSocketFrame.encoded(.close, [0x03, 0xE8], mask: tools.random(4))
            await Task.detached { try? await stream.write(goodbye, within: .milliseconds(200)) }.value
        }
        return failure
    }

    /// Reads until it fails.
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
                    // Where messages come without pause, reading alone would never notice.
                    if Task.isCancelled { throw MQTTError(.cancelled, "cancelled") }
                    switch action {
                    case .send(let bytes): try await write(bytes, to: stream)
                    case .subscribed:
                        liveness.subscribed()
                        await take(.subscribed)
                    case .message(let message): await take(.message(message))
                    }
                }
            }
        } catch {
            return error
        }
    }

    /// Pings when nothing has come for a while, and fails when the answer does not come either.
    private func watch(_ stream: ByteStream, _ liveness: Liveness) async -> MQTTError {
        do throws(MQTTError) {
            while true {
                let limit = liveness.isSubscribed ? Duration.seconds(Int(request.keepAlive)) : Self.openingLimit
                do { try await tools.sleep(limit) } catch { throw MQTTError(.cancelled, "cancelled") }
                switch liveness.next() {
                case .wait: continue
                case .ping: try await write(frame(MQTTPacket.pingRequest), to: stream)
                case .giveUp: throw MQTTError(.timedOut, "\(request.host) has not answered in time")
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
    init(_ error: ByteStreamError) {
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
