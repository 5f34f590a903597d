// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainCryptoOpenSSL
import RainIO
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@Suite("Secured sessions over the console", .timeLimit(.minutes(10)))
struct ConsoleSessionTests {
    @Test("Security 1 passes through a noisy console")
    func security1() async throws {
        let device = Security1Device<OpenSSLCrypto, OpenSSLRandom>(
            proofOfPossession: Array("abcd1234".utf8), random: OpenSSLRandom())
        let stack = ConsoleStack(device)
        let console = try EchoingConsole(
            interruptEcho: { _, position in position % 17 == 3 ? "\u{1B}[0;32mI (5) wifi: noise\u{1B}[0m\r\n" : nil },
            run: { stack.run($0) })
        let session = ProtocommSession(
            transport: ConsoleTransport(port: try SerialPort.open(console.terminal.path), clock: ManualClock()),
            clock: ManualClock())
        #expect(try await session.versionInfo() == Array("{}".utf8))
        var random = OpenSSLRandom()
        try await session.handshake(
            Security1Client<OpenSSLCrypto>(proofOfPossession: Array("abcd1234".utf8), random: &random))
        for length in 1...100 {
            let request = (0..<length).map { UInt8($0) }
            #expect(try await session.request(request, on: .config) == request.reversed())
        }
        await session.end()
    }

    @Test("Security 2 is a mismatch before anything is sent")
    func security2() async throws {
        let console = try EchoingConsole { _ in "" }
        let session = ProtocommSession(
            transport: ConsoleTransport(port: try SerialPort.open(console.terminal.path), clock: ManualClock()),
            clock: ManualClock())
        var random = OpenSSLRandom()
        let client = Security2Client<OpenSSLCrypto>(
            username: Array("wifiprov".utf8), password: [1], patchVersion: try #require(Security2PatchVersion(1)),
            random: &random)
        let error = await #expect(throws: BoardError.self) { try await session.handshake(client) }
        #expect(error?.code == .securityMismatch)
        #expect(
            error?.message.hasPrefix("The board uses Security 2, which needs a message of ") == true, "\(error as Any)")
        #expect(console.typed.isEmpty)
        await session.end()
    }

    /// A board's protocomm behind the console's lines. The console runs one line at a time.
    private final class ConsoleStack<Scheme: DeviceSecurityScheme>: Sendable {
        private let state: Mutex<(scheme: Scheme, cipher: Scheme.Cipher?)>
        init(_ scheme: Scheme) { state = Mutex((scheme, nil)) }

        func run(_ line: String) -> String? {
            let words = line.split(separator: " ")
            guard words.count == 3 else { return "" }
            let request = hex(String(words[2]))
            let answer: [UInt8]? = state.withLock { state in
                switch words[0] {
                case "proto-ver": return Array("{}".utf8)
                case "prov-session":
                    switch try? state.scheme.respond(to: request) {
                    case .reply(let reply): return reply
                    case .established(let reply, let cipher):
                        state.cipher = cipher
                        return reply
                    case nil: return nil
                    }
                default:
                    guard let plain = try? state.cipher?.decrypt(request) else { return nil }
                    return try? state.cipher?.encrypt(plain.reversed())
                }
            }
            return answer.map { "\r\r\n" + hexString($0) + "\r\r\n" } ?? "E (9) protocomm: refused\r\n"
        }
    }
}
