// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainCore
import RainIO

/// Receives the answer on this machine's loopback address (RFC 8252, section 7.3), for servers that allow any port there.
///
/// It listens on 127.0.0.1 and ::1 with one port. Requests to other paths, with another `Host` or with another state get an error page and
/// are otherwise ignored. The first answer that belongs to the attempt ends the wait.
public struct LoopbackUserAgent: AuthorizationUserAgent {
    private let port: UInt16
    private let path: String
    private let opener: SignInPageOpener

    /// - Parameters:
    ///   - port: 0 for any free port.
    ///   - path: the registered path, which begins with `/`.
    ///   - pasted: a second way to get the answer, if the browser cannot reach this machine.
    ///   - report: called for answers that were not accepted.
    ///   - show: shows the user the page.
    public init(
        port: UInt16 = 0, path: String = "/callback", pasted: (any PastedAddresses)? = nil,
        within limit: Duration = .seconds(300), by clock: any Clock<Duration> = ContinuousClock(),
        report: ReportForeignAnswer? = nil, show: @escaping ShowSignInPage
    ) {
        self.port = port
        self.path = path
        opener = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, report: report, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        let sockets = try LoopbackSockets(port: port)
        defer { sockets.close() }
        let host = sockets.hasIPv4 ? "127.0.0.1" : "[::1]"
        let target = RedirectTarget(redirectURI: try redirectURI("http://\(host):\(sockets.port)\(path)"))
        return try await opener.authorize(attempt, at: target, hearing: LoopbackListener(sockets: sockets, path: path))
    }
}

/// Receives the answer through a relay page, for providers that allow no loopback address. The page is the registered redirect URI. It
/// reads `port:N` in the state and redirects the browser to `http://localhost:N/`.
///
/// Such a state can be guessed, so an attacker could send their own code. It is useless to them: the code does not match the code
/// verifier, and its ID token does not have the nonce.
public struct RelayUserAgent: AuthorizationUserAgent {
    private let relay: String
    private let port: UInt16
    private let sendsExtendedState: Bool
    private let opener: SignInPageOpener

    /// - Parameters:
    ///   - relay: the page's address, which is the redirect URI.
    ///   - sendsExtendedState: whether the page accepts a random part after the port (`port:N:RANDOM`) and forwards it.
    public init(
        relay: String, port: UInt16 = 0, sendsExtendedState: Bool = false, pasted: (any PastedAddresses)? = nil,
        within limit: Duration = .seconds(300), by clock: any Clock<Duration> = ContinuousClock(),
        report: ReportForeignAnswer? = nil, show: @escaping ShowSignInPage
    ) {
        self.relay = relay
        self.port = port
        self.sendsExtendedState = sendsExtendedState
        opener = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, report: report, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        let sockets = try LoopbackSockets(port: port)
        defer { sockets.close() }
        var aliases: [RedirectURI] = []
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            aliases.append(try redirectURI("http://\(host):\(sockets.port)/"))
        }
        let target = RedirectTarget(
            redirectURI: try redirectURI(relay), aliases: aliases,
            stateForm: .relay(port: sockets.port, isExtended: sendsExtendedState))
        return try await opener.authorize(attempt, at: target, hearing: LoopbackListener(sockets: sockets, path: "/"))
    }
}

/// A web server for one redirect: one path, GET (and POST for a fragment), plain pages.
///
/// It serves on one thread with `poll`. Browsers open some connections in advance, and such silent connections cost nothing and do not
/// delay the answer.
private struct LoopbackListener: RedirectSource {
    let sockets: LoopbackSockets
    /// The path, compared byte by byte.
    let path: String

    /// The maximum number of connections at once. Others wait in the system's queue.
    private static let maximumConnections = 32

    func serve(_ matcher: RedirectMatcher) async throws(AccountError) {
        let failure: Int32 = try await onListeningThread { interrupt in run(matcher, interrupt) }
        guard failure == 0 else {
            throw AccountError(
                .cannotListen,
                message: "the browser's answer cannot be received: \(systemErrorText(failure))")
        }
    }

    /// The accepted values of `Host`. Another value may come from a page whose own name resolves to this machine (DNS rebinding).
    private var ownNames: Set<String> {
        Set(
            ["127.0.0.1", "[::1]", "localhost"].flatMap {
                sockets.port == 80 ? [$0, "\($0):80"] : ["\($0):\(sockets.port)"]
            })
    }

    /// Returns the value of `errno`, or 0 for a normal end: interrupted, or the browser has the page for the answer.
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
            // Another source had the answer, and no browser waits for a page.
            if matcher.answer != nil, !connections.contains(where: \.isAnswering) { return 0 }
        }
    }

    private func accepted(from listener: Int32, at now: Int64) -> CallbackConnection? {
        let descriptor = accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
        guard descriptor >= 0 else { return nil }
        return CallbackConnection(descriptor: descriptor, now: now)
    }
}

/// Listening sockets on this machine's own addresses, 127.0.0.1 and ::1, with the same port. No other machine can reach them. ``close()``
/// closes them.
struct LoopbackSockets: Sendable {
    let port: UInt16
    let descriptors: [Int32]
    /// Whether 127.0.0.1 is among them. A machine may have only IPv6.
    fileprivate let hasIPv4: Bool
    private let hasIPv6: Bool

    /// - Parameter port: 0 for any port that is free in both families.
    /// - Throws: `cannotListen` if the port is not available at either address.
    init(port wanted: UInt16) throws(AccountError) {
        var failure: Int32 = 0
        // Another program may use the port in one family. Then a few other ports are tried.
        for _ in 0..<16 {
            var port = wanted
            let four = Self.listen(AF_INET, &port)
            if four < 0 { failure = errno }
            if four < 0, failure != EAFNOSUPPORT, failure != EADDRNOTAVAIL { break }
            let six = Self.listen(AF_INET6, &port)
            let sixFailure = errno
            if six < 0, wanted == 0, four >= 0, sixFailure == EADDRINUSE {
                Glibc.close(four)
                failure = sixFailure
                continue
            }
            guard four >= 0 || six >= 0 else {
                failure = sixFailure
                break
            }
            if six < 0, sixFailure == EADDRINUSE {
                // A program that listens on ::1 with this port would get the answer if the browser prefers IPv6.
                Glibc.close(four)
                failure = sixFailure
                break
            }
            self.port = port
            (hasIPv4, hasIPv6) = (four >= 0, six >= 0)
            descriptors = [four, six].filter { $0 >= 0 }
            return
        }
        let what = wanted == 0 ? "no port of this machine is" : "port \(wanted) of this machine is not"
        throw AccountError(
            .cannotListen,
            message: "\(what) available for the browser's answer (\(systemErrorText(failure)))",
            remedies: wanted == 0 ? [.pastedAddress] : [.otherCallbackPort, .pastedAddress])
    }

    func close() { for descriptor in descriptors { Glibc.close(descriptor) } }

    /// Returns a non-blocking listener, or -1 with `errno` set. Sets the chosen port.
    private static func listen(_ family: Int32, _ port: inout UInt16) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { return -1 }
        var one: Int32 = 1
        if family == AF_INET6 {
            setsockopt(
                descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<Int32>.size))
        }
        // A fixed port can be used again at once, although earlier connections are still in TIME_WAIT.
        if port != 0 { setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size)) }
        guard bind(descriptor, family, &port), Glibc.listen(descriptor, 16) == 0 else {
            let failure = errno
            Glibc.close(descriptor)
            errno = failure
            return -1
        }
        return descriptor
    }

    private static func bind(_ descriptor: Int32, _ family: Int32, _ port: inout UInt16) -> Bool {
        var storage = sockaddr_storage()
        var length: socklen_t
        if family == AF_INET {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in.self) }
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
        } else {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            address.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in6.self) }
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        }
        let isBound = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { return false }
        // Both families have the port at the same offset.
        port = withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
        return true
    }
}
