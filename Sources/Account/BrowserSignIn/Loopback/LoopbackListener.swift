// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainIO

/// A web server for one redirect: one path, GET (and POST for a fragment), plain pages.
///
/// It serves on one thread with `poll`, so that many silent connections (browsers open some ahead of need) cost nothing and none
/// of them keeps the answer waiting.
struct LoopbackListener: RedirectSource {
    let sockets: LoopbackSockets
    /// Compared byte for byte.
    let path: String

    /// More connections than that at once wait in the system's queue.
    private static let maximumConnections = 32

    func serve(_ matcher: RedirectMatcher) async throws(AccountError) {
        let failure: Int32 = try await onListeningThread { interrupt in run(matcher, interrupt) }
        guard failure == 0 else {
            throw AccountError(
                .cannotListen,
                message: "the browser's answer cannot be listened for: \(String(cString: strerror(failure)))")
        }
    }

    /// The values of `Host` that are accepted. Another one may come from a page whose own name resolves to this machine
    /// (DNS rebinding).
    private var ownNames: Set<String> {
        Set(
            ["127.0.0.1", "[::1]", "localhost"].flatMap {
                sockets.port == 80 ? [$0, "\($0):80"] : ["\($0):\(sockets.port)"]
            })
    }

    /// Returns `errno`'s value, 0 for a proper end: interrupted, or answered and the browser has its page.
    private func run(_ matcher: RedirectMatcher, _ interrupt: Int32) -> Int32 {
        let rules = CallbackRules(path: Array(path.utf8), hosts: ownNames, matcher: matcher)
        var connections: [CallbackConnection] = []
        defer { for connection in connections { connection.close() } }
        while true {
            var watched: [PollEntry] = [.readable(interrupt)]
            let listening = connections.count < Self.maximumConnections ? sockets.descriptors : []
            watched += listening.map { .readable($0) }
            watched += connections.map { PollEntry($0.descriptor, for: $0.events) }
            let next = connections.map(\.deadline).min().map { MonotonicDeadline(microseconds: UInt64($0) * 1000) }
            if case .failed(let code) = pollDescriptors(&watched, until: next) { return code }
            if watched[0].isReady { return 0 }

            let time = monotonicMilliseconds()
            for index in connections.indices {
                let isReady = watched[1 + listening.count + index].isReady
                if isReady { connections[index].advance(rules, at: time) }
                if time >= connections[index].deadline { connections[index].expire() }
            }
            for connection in connections where connection.isOver { connection.close() }
            let answered = connections.contains { $0.isOver && $0.carriedAnswer }
            connections.removeAll(where: \.isOver)
            if answered { return 0 }
            for (index, listener) in listening.enumerated() where watched[1 + index].isReady {
                if let connection = accepted(from: listener, at: time) { connections.append(connection) }
            }
            // Another source brought the answer, and no browser waits for a page.
            if matcher.answer != nil, !connections.contains(where: \.isAnswering) { return 0 }
        }
    }

    private func accepted(from listener: Int32, at now: Int64) -> CallbackConnection? {
        let descriptor = accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
        guard descriptor >= 0 else { return nil }
        return CallbackConnection(descriptor: descriptor, now: now)
    }
}
