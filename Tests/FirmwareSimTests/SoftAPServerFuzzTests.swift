// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import TestSupport
import Testing

@testable import firmware_sim

/// The board's HTTP server on a real socket, in the process of the test, which turns its loop by hand.
private final class ServedBoard {
    private let board: Board
    private let server: SoftAPServer
    var address: String { "\(server.address)" }

    init() throws {
        // It must outlive what the mutants do to it, and not let anybody wait.
        let simulator = try FirmwareSim.parse([
            "--http", "127.0.0.1:0", "--security", "0", "--seed", "3", "--no-auto-stop", "--channel-delay", "0",
            "--join-delay", "0", "--wifi", "Net:password",
        ])
        board = try simulator.makeBoards(Journal(path: nil))[0]
        server = try SoftAPServer(BindAddress(host: "127.0.0.1", port: 0), board: board)
    }

    deinit { server.shutDown() }

    /// Does what there is to do, until there is nothing.
    func turn() {
        while true {
            var descriptors = server.interests.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
            guard poll(&descriptors, nfds_t(descriptors.count), 0) > 0 else { break }
            let now = MonotonicClock.now
            for descriptor in descriptors where descriptor.revents != 0 {
                guard server.interests.contains(where: { $0.descriptor == descriptor.fd }) else { continue }
                server.ready(descriptor.fd, events: descriptor.revents, now: now)
            }
            board.wake(now: now)
            server.wake(now: now)
        }
    }
}

@Suite("The board's HTTP server, fuzzed")
struct SoftAPServerFuzzTests {
    private static let requests = [
        "POST /prov-session HTTP/1.1\r\nContent-Length: 6\r\n\r\nR\u{3}\u{1}\0\0\0",
        "POST /prov-config HTTP/1.1\r\nCookie: session=42\r\nContent-Length: 2\r\n\r\nR\0",
        "POST /prov-scan HTTP/1.1\r\nContent-Length: 2\r\n\r\n\u{8}\u{2}",
        "POST /proto-ver HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n---\r\n0\r\n\r\n",
        "POST /proto-ver?a=b HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n---",
        "GET / HTTP/1.1\r\n\r\n",
        "POST /cloud_user_assoc HTTP/1.1\r\nContent-Length: 12\r\n\r\nR\u{A}\u{A}\u{1}u\u{12}\u{5}plant",
        "POST /prov-ctrl HTTP/1.1\r\nContent-Length: 2\r\n\r\n\u{8}\u{1}",
    ].map { Array($0.utf8) }

    @Test("takes any bytes over a socket, cut anywhere, and answers the next client")
    func socket() async throws {
        try await withOwnProcessInSoak {
            let served = try ServedBoard()
            var answered = 0
            let report = fuzz("SoftAP server", from: Self.requests, seed: 45) { input in
                let peer = try! RawHTTPPeer(served.address)
                for piece in [input.prefix(input.count / 2), input.dropFirst(input.count / 2)] {
                    peer.send(Array(piece))
                    served.turn()
                }
                peer.endSending()
                served.turn()
                if let answer = peer.receive(within: 0), !answer.isEmpty {
                    answered += 1
                    #expect(answer.starts(with: Array("HTTP/1.1 ".utf8)))
                }
            }
            #expect(answered > fuzzRounds / 10)
            let peer = try RawHTTPPeer(served.address)
            peer.post("proto-ver", [0x2D])
            served.turn()
            #expect(peer.response().body.count > 20)
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
