// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainJSON
import TestSupport
import Testing

@Suite("The descriptors of a process with many boards")
struct DescriptorTests {
    /// What the system lets that process have open at once.
    private func limit(_ process: ChildProcess, to value: String) async throws {
        let finished = try await run("prlimit", ["--pid", "\(process.pid)", "--nofile=\(value)"])
        try #require(finished.status == .exited(0), "\(finished.standardError)")
    }

    @Test("as many as the system allows at all may be open, whatever the shell is content with")
    func limit() async throws {
        let program = try Executables.path("firmware-sim")
        try await withChildProcess(
            "sh", ["-c", "ulimit -Sn 64; exec \"$@\"", "sh", program, "--http", "127.0.0.1:0"]
        ) { board in
            _ = try await board.readyLine()
            let words = try readFile("/proc/\(board.pid)/limits").split(separator: "\n")
                .first { $0.hasPrefix("Max open files") }?.split(separator: " ")
            let (soft, hard) = (try #require(words)[3], try #require(words)[4])
            #expect(soft == hard && soft != "64")
        }
    }

    @Test(
        "a board that finds none free for its connection tries again, and connects once there are", arguments: [1, 3])
    func noneFree(free: Int) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node1"], in: folder)
            let board = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "0", "--wifi", "Net:password", "--join-delay", "0",
                    "--log-level", "warning",
                ] + cloud.boardOptions(node: "node1"), in: folder)
            // The soft limit alone, which anyone may raise again. It bounds the numbers of descriptors, which may have gaps.
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(board.process.pid)/fd").compactMap(
                Int.init)
            let left = (0...).lazy.filter { !open.contains($0) }.prefix(free)
            try await limit(board.process, to: "\(try #require(Array(left).last) + 1):")
            let peer = try RawHTTPPeer(try #require(board.http))
            for request in ["0802620f0a034e6574120870617373776f7264", "0804"] {
                peer.post("prov-config", hex(request))
                #expect(await peer.nextResponse().body.count == 4)
            }
            for _ in 0..<2 { #expect(try await board.process.errorLine()?.contains("trying again") == true) }
            try await limit(board.process, to: "1024:")
            _ = try await board.journal.entry(where: ["change": "mqtt_connected"])
            #expect(try await board.process.terminate(within: Timings.limit(.seconds(1))) == .exited(0))
        }
    }
}
