// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Dispatch
import Glibc
import RainCore
import RainKit
import TestSupport
import Testing

/// A program that ends on a signal while the cloud makes new tokens. A cloud that replaces refresh tokens has forgotten the old ones by then.
@Suite("Sessions and an end while they are renewed", .serialized)
struct EndedRunTests {
    enum End: Sendable, CaseIterable { case terminated, interrupted, hungUp, timeLimit }

    @Test("the answer that is on its way is stored first", arguments: End.allCases)
    func answerIsStored(end: End) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try SlowRenewal()
            let stored = try await StoredSession(in: folder, at: cloud.server, expiresIn: -100)
            // The renewal itself is given up after 10 s.
            let limit = end == .timeLimit ? ["--timeout", "5s"] : []
            let child = try await stored.maker.start(["account", "token"] + limit)
            defer { child.kill() }
            try await cloud.isAsked()
            switch end {
            case .terminated: child.signal(SIGTERM)
            case .interrupted: child.signal(SIGINT)
            case .hungUp: child.signal(SIGHUP)
            case .timeLimit: break
            }
            try await child.errorOutput(containing: "new tokens")
            cloud.answers()
            let status = try await child.wait()
            #expect(status == .exited(end == .timeLimit ? 16 : 130), "\(child.standardError)")
            #expect(try stored.session?.tokens.refresh == Secret("planted-second-refresh-token"))
            #expect(child.standardOutput == "")
        }
    }

    @Test("a second Ctrl-C ends at once, and a signal alone after five seconds", arguments: [true, false])
    func bound(twice: Bool) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try SlowRenewal()
            defer { cloud.answers() }
            let stored = try await StoredSession(in: folder, at: cloud.server, expiresIn: -100)
            let child = try await stored.maker.start(["account", "token"])
            defer { child.kill() }
            try await cloud.isAsked()
            let start = ContinuousClock.now
            child.signal(SIGINT)
            try await child.errorOutput(containing: "new tokens")
            if twice { child.signal(SIGINT) }
            #expect(try await child.wait() == .exited(130))
            let elapsed = start.duration(to: .now)
            if !twice { #expect(elapsed > .milliseconds(4900)) }
            #expect(elapsed < Timings.limit(.seconds(twice ? 4 : 9)))
        }
    }

    @Test("who has asked for nothing yet ends at once, and asks for nothing", arguments: [SIGTERM, SIGINT])
    func waitingForTheLock(signal: Int32) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try SlowRenewal()
            let stored = try await StoredSession(in: folder, at: cloud.server, expiresIn: -100)
            let lock = folder.file("state/rainkit/sessions/\(stored.key.name).lock")
            try await withChildProcess("flock", [lock, "sh", "-c", "echo held; cat"], input: .open) { holder in
                #expect(try await holder.readyLine() == "held")
                let child = try await stored.maker.start(["account", "token", "-v"])
                defer { child.kill() }
                try await waitForLock(of: child.pid)
                child.signal(signal)
                #expect(try await child.wait() == .exited(130))
            }
            #expect(cloud.server.server?.seen.count == 0)
        }
    }

    /// A thread of that process waits in `flock(2)`: proc(5), `/proc/locks`, where those who wait have an arrow.
    private func waitForLock(of pid: pid_t) async throws {
        let end = ContinuousClock.now + .waitLimit
        while ContinuousClock.now < end {
            let lines = try readFile("/proc/locks").split(separator: "\n")
            if lines.contains(where: { $0.contains("->") && $0.contains(" \(pid) ") }) { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("nobody waits for the lock")
    }
}

/// A cloud that replaces refresh tokens, and takes its time over the answer.
private final class SlowRenewal: Sendable {
    let server: FaultyServer
    /// One for each who waits, and one for whoever comes later.
    private let gate: DispatchSemaphore

    init() throws {
        let gate = DispatchSemaphore(value: 0)
        self.gate = gate
        server = try FaultyServer.start { _ in
            gate.wait()
            gate.signal()
            let now = SystemWallClock().now.seconds.rounded(.down)
            let claims = base64URL(Array(#"{"iat":\#(Int(now)),"exp":\#(Int(now) + 3600)}"#.utf8))
            let token = "\(base64URL(Array(#"{"alg":"none"}"#.utf8))).\(claims).c2ln"
            return HTTPResponse(
                status: 200,
                body: Array(
                    #"{"status":"success","accesstoken":"\#(token)","refreshtoken":"planted-second-refresh-token"}"#
                        .utf8))
        }
    }

    deinit { answers() }

    func isAsked() async throws {
        let end = ContinuousClock.now + .waitLimit
        while server.server?.seen.isEmpty != false {
            try #require(ContinuousClock.now < end, "no request came")
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    func answers() { gate.signal() }
}
