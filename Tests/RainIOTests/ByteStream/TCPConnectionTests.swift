// SPDX-License-Identifier: Apache-2.0
import RainIO
import TestSupport
import Testing

@Suite("Opening a TCP connection", .timeLimit(.minutes(10)))
struct TCPConnectionTests {
    @Test("by IPv4 address and by name", arguments: ["127.0.0.1", "localhost"])
    func opens(host: String) async throws {
        let listener = try LoopbackListener()
        let stream = try await TCPConnection.open(host: host, port: listener.port)
        let far = try listener.accept()
        try await stream.write([0x78])
        #expect(await far.receive() == [0x78])
        await stream.close()
    }

    @Test("by IPv6 address")
    func six() async throws {
        // A machine may have none.
        guard let listener = try? LoopbackListener("::1") else { return }
        let stream = try await TCPConnection.open(host: "::1", port: listener.port)
        await stream.close()
    }

    @Test("where nobody listens it is refused, and the error names the peer")
    func refused() async throws {
        let port = UInt16(try LoopbackServer.refusedPort())
        let error = await #expect(throws: ByteStreamError.self) {
            _ = try await TCPConnection.open(host: "127.0.0.1", port: port)
        }
        #expect(error?.code == .refused)
        #expect(error?.peer == "127.0.0.1:\(port)")
    }

    @Test("a name that nobody has is not found")
    func unknown() async throws {
        // RFC 6761 keeps this domain empty. A resolver that cannot be asked may take its time.
        let code = await code { _ = try await TCPConnection.open(host: "board.invalid", port: 80, within: .seconds(1)) }
        #expect(code == .notFound || code == .timedOut)
    }

    @Test("a host that is silent ends with the time")
    func silent() async throws {
        let listener = try SilentListener()
        let code = await code {
            _ = try await TCPConnection.open(host: "127.0.0.1", port: listener.port, within: .milliseconds(50))
        }
        #expect(code == .timedOut)
    }

    @Test("cancelling ends it, before and while it waits", arguments: [0, 20])
    func cancelled(after milliseconds: Int) async throws {
        let listener = try SilentListener()
        let opening = Task {
            try await TCPConnection.open(host: "127.0.0.1", port: listener.port, within: .seconds(50))
        }
        if milliseconds > 0 { try await Task.sleep(for: .milliseconds(milliseconds)) }
        opening.cancel()
        #expect(await code { _ = try await opening.value } == .cancelled)
    }
}
