// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCryptoOpenSSL
import RainKitTesting
import Synchronization

/// Firmware under Security 0 whose answers a test writes by hand, and the client's board on top of it.
final class ScriptedFirmware: Sendable {
    typealias Answers = @Sendable (_ request: [UInt8], _ endpoint: Endpoint) -> [UInt8]?

    private let requests = Mutex<[(endpoint: Endpoint, bytes: [UInt8])]>([])
    private let isRecording: Bool
    let version: String
    private let answers: Answers

    init(
        isRecording: Bool = true,
        version: String =
            #"{"prov":{"ver":"netprov-v1.2","sec_ver":0,"sec_patch_ver":0,"cap":["no_sec","wifi_scan"]}}"#,
        answers: @escaping Answers
    ) {
        self.isRecording = isRecording
        self.version = version
        self.answers = answers
    }

    var asked: [Endpoint] { requests.withLock { $0.map(\.endpoint) } }
    func bytes(on endpoint: Endpoint) -> [[UInt8]] {
        requests.withLock { $0.filter { $0.endpoint == endpoint }.map(\.bytes) }
    }

    func board(
        clock: any Clock<Duration> = ContinuousClock(), credentials: BoardCredentials = BoardCredentials { nil },
        maximumRequestLength: Int? = nil,
        deadlines: ExchangeDeadlines = .standard, restoresLinks: Bool = false,
        fault: @escaping @Sendable (Int, Endpoint) -> InMemoryTransport.Fault? = { _, _ in nil }
    ) -> ProtocommBoard<OpenSSLCrypto, OpenSSLRandom> {
        let transport = InMemoryTransport(
            maximumRequestLength: maximumRequestLength, deadlines: deadlines, restoresLinks: restoresLinks,
            fault: fault
        ) { request, endpoint in
            if self.isRecording { self.requests.withLock { $0.append((endpoint, request)) } }
            switch endpoint {
            case .version: return Array(self.version.utf8)
            case .session: return SessionData(.security0(Security0Payload(.response(StatusResponse())))).encoded()
            default: return self.answers(request, endpoint)
            }
        }
        return ProtocommBoard(
            transport: transport, credentials: credentials, suite: OpenSSLCrypto.self,
            random: OpenSSLRandom(), clock: clock, logger: Logger(label: "test"))
    }
}

/// A clock on which every pause is over at once.
struct InstantClock: Clock {
    typealias Instant = ContinuousClock.Instant
    private let elapsed = Elapsed()
    var now: Instant { elapsed.start.advanced(by: elapsed.value.withLock { $0 }) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        // Only polling pauses pass; a deadline of seconds is left to be cancelled.
        let pause = now.duration(to: deadline)
        guard pause < .seconds(3) else {
            // Not Task.sleep: its timer would stay until it fires, cancelled or not.
            let (never, continuation) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            continuation.finish()
            throw CancellationError()
        }
        elapsed.value.withLock { $0 += pause }
        await Task.yield()
    }

    private final class Elapsed: Sendable {
        let start = ContinuousClock.now
        let value = Mutex(Duration.zero)
    }
}
