// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainCrypto
import RainCryptoOpenSSL
import RainHTTPCurl
import RainIO
import RainMaker
import Synchronization
import TestSupport
import Testing

/// A subscription at Debian's mosquitto, over its WebSockets.
@Suite("A subscription at mosquitto")
struct MosquittoTests {
    /// mosquitto on free ports: WebSocket, and plain MQTT for who publishes.
    private struct Mosquitto {
        let process: ChildProcess
        let webSocket: Int
        let plain: Int

        static func with(
            tls: Bool = false, access: String = "topic readwrite #",
            _ body: (Mosquitto, TemporaryFolder) async throws -> Void
        ) async throws {
            try await withTemporaryFolder { folder in
                let (webSocket, plain) = (try LoopbackServer.assignablePort(), try LoopbackServer.assignablePort())
                try folder.write(access + "\n", to: "access")
                var lines = [
                    "per_listener_settings false", "allow_anonymous true", "acl_file \(folder.file("access"))",
                    "user root", "log_dest stderr", "log_type error", "log_type notice",
                    "log_type information", "connection_messages true", "listener \(plain) 127.0.0.1",
                    "listener \(webSocket) 127.0.0.1", "protocol websockets",
                ]
                if tls {
                    try await ServerCertificate(names: "IP:127.0.0.1").issue(in: folder)
                    lines += ["certfile \(folder.file("server.pem"))", "keyfile \(folder.file("server.key"))"]
                }
                try folder.write(lines.joined(separator: "\n") + "\n", to: "mosquitto.conf")
                let process = try await ChildProcess.start(
                    "/usr/sbin/mosquitto", ["-c", folder.file("mosquitto.conf")])
                defer { process.kill() }
                try await process.errorOutput(containing: " running")
                try await body(Mosquitto(process: process, webSocket: webSocket, plain: plain), folder)
            }
        }

        func publish(_ topic: String, _ text: String) async throws {
            let done = try await run(
                "mosquitto_pub", ["-h", "127.0.0.1", "-p", String(plain), "-q", "1", "-t", topic, "-m", text])
            #expect(done.status == .exited(0), "\(done.standardError)")
        }
    }

    private static func tools(_ certificateAuthorities: String? = nil) -> MQTTSubscription.Tools {
        MQTTSubscription.Tools(
            opener: CurlStreamOpener(CurlConfiguration(certificateAuthorities: certificateAuthorities)),
            random: { count in
                var source = OpenSSLRandom()
                return source.bytes(count)
            }, base64: { Data($0).base64EncodedString() }, sha1: OpenSSLHashes.sha1,
            sleep: { try await Task.sleep(for: $0) })
    }

    /// What a subscription has heard.
    private final class Heard: Sendable {
        private let events = Mutex<[MQTTSubscription.Event]>([])
        func add(_ event: MQTTSubscription.Event) { events.withLock { $0.append(event) } }
        func wait(for event: MQTTSubscription.Event) async throws {
            try await wait { events.withLock { $0.contains(event) } }
        }
        func wait(for count: Int) async throws { try await wait { events.withLock { $0.count } >= count } }
        private func wait(_ condition: () -> Bool) async throws {
            let end = ContinuousClock.now + .waitLimit
            while !condition() {
                try #require(ContinuousClock.now < end, "heard: \(events.withLock { $0.count })")
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    private static func subscription(
        _ url: String, _ topics: [String], keepAlive: UInt16 = 30, tools: MQTTSubscription.Tools = tools()
    ) -> MQTTSubscription {
        var request = MQTTSubscription.Request(
            url: url, host: "127.0.0.1", target: "/mqtt", clientID: "rainkit-test", topics: topics)
        request.keepAlive = keepAlive
        return MQTTSubscription(request, tools: tools)
    }

    @Test("hears what mosquitto_pub publishes, long messages and many, and ends when it is cancelled")
    func messages() async throws {
        try await Mosquitto.with { broker, _ in
            let heard = Heard()
            let subscription = Self.subscription("http://127.0.0.1:\(broker.webSocket)", ["node/a/params/local"])
            let listening = Task { () async -> MQTTError in
                do throws(MQTTError) { try await subscription.run { heard.add($0) } } catch { return error }
            }
            try await heard.wait(for: .subscribed)
            try await broker.publish("node/a/params/local", "{\"Light\":{\"Power\":true}}")
            try await broker.publish("node/b/params/local", "not ours")
            let long = String(repeating: "x", count: 100_000)
            try await broker.publish("node/a/params/local", long)
            try await heard.wait(
                for: .message(
                    MQTTMessage(topic: "node/a/params/local", payload: Array("{\"Light\":{\"Power\":true}}".utf8))))
            try await heard.wait(for: .message(MQTTMessage(topic: "node/a/params/local", payload: Array(long.utf8))))
            try await heard.wait(for: 3)
            listening.cancel()
            #expect(await listening.value.code == .cancelled)
            // It has said goodbye: mosquitto does not speak of an error.
            try await broker.process.errorOutput(containing: "Client rainkit-test disconnected.")
        }
    }

    @Test("publishes its own messages once all of its topics are accepted, eight in a request, and hears them")
    func publishing() async throws {
        try await Mosquitto.with { broker, _ in
            let heard = Heard()
            let topics = (0..<20).map { "topic/\($0)" }
            var request = MQTTSubscription.Request(
                url: "http://127.0.0.1:\(broker.webSocket)", host: "127.0.0.1", target: "/mqtt",
                clientID: "rainkit-test",
                topics: topics)
            request.messages = topics.map { MQTTMessage(topic: $0, payload: Array($0.utf8)) }
            let subscription = MQTTSubscription(request, tools: Self.tools())
            let listening = Task { () async -> MQTTError in
                do throws(MQTTError) { try await subscription.run { heard.add($0) } } catch { return error }
            }
            try await heard.wait(for: .published)
            for message in request.messages { try await heard.wait(for: .message(message)) }
            listening.cancel()
            #expect(await listening.value.code == .cancelled)
        }
    }

    @Test("over TLS, where a certificate that is not trusted is refused")
    func secure() async throws {
        try await Mosquitto.with(tls: true) { broker, folder in
            let heard = Heard()
            let url = "https://127.0.0.1:\(broker.webSocket)"
            let trusting = Self.subscription(url, ["t"], tools: Self.tools(folder.file("ca.pem")))
            let listening = Task { () async -> MQTTError in
                do throws(MQTTError) { try await trusting.run { heard.add($0) } } catch { return error }
            }
            try await heard.wait(for: .subscribed)
            // More than a record of TLS holds, so that some of it waits in the layer above the socket.
            let long = String(repeating: "y", count: 120_000)
            for _ in 0..<5 { try await broker.publish("t", long) }
            try await heard.wait(for: 6)
            listening.cancel()
            #expect(await listening.value.code == .cancelled)

            let error = await #expect(throws: MQTTError.self) { try await Self.subscription(url, ["t"]).run { _ in } }
            #expect(error?.code == .untrusted)
        }
    }

    @Test("pings keep it, and it reports a broker that does not answer, one that ended, and one that is not there")
    func ends() async throws {
        try await Mosquitto.with(access: "topic readwrite allowed") { broker, _ in
            let heard = Heard()
            let subscription = Self.subscription("http://127.0.0.1:\(broker.webSocket)", ["allowed"], keepAlive: 4)
            let listening = Task { () async -> MQTTError in
                do throws(MQTTError) { try await subscription.run { heard.add($0) } } catch { return error }
            }
            try await heard.wait(for: .subscribed)
            // The broker ends a connection that says nothing for one and a half times that.
            try await Task.sleep(for: .seconds(7))
            try await broker.publish("allowed", "still there")
            try await heard.wait(for: .message(MQTTMessage(topic: "allowed", payload: Array("still there".utf8))))
            broker.process.signal(SIGSTOP)
            let silent = await listening.value
            #expect(silent.code == .timedOut)
            broker.process.signal(SIGCONT)

            let second = Heard()
            let again = Task { () async -> MQTTError in
                do throws(MQTTError) { try await subscription.run { second.add($0) } } catch { return error }
            }
            try await second.wait(for: .subscribed)
            broker.process.kill()
            #expect(await again.value.code == .lost)
            // The connection is closed before the port is.
            _ = try await broker.process.wait()
            let gone = await #expect(throws: MQTTError.self) { try await subscription.run { _ in } }
            #expect(gone?.code == .unreachable)
        }
    }
}
