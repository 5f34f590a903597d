// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainDescriptors
import DeviceCore
import Glibc
import ProtocommCore
import RainIO

/// The board's HTTP server: one task and one connection, like `esp_http_server` under `protocomm_httpd`.
///
/// While the task waits for the rest of a request or for a handler, it accepts no other connection. A new connection to an idle server
/// closes the old one. A handler's error closes the connection without a response.
final class SoftAPServer: EventSource {
    /// `recv_wait_timeout` of the server's configuration.
    private static let headerTimeout: UInt64 = 5000
    /// Two such waits.
    private static let bodyTimeout: UInt64 = 10_000

    private struct Connection {
        var descriptor: Int32
        var number: Int
        var parser = HTTPRequestParser()
        var head: HTTPRequestHead?
        var session: HTTPSessions.Decision?
        var lastByte: UInt64
        /// The endpoint whose blocking handler occupies the task.
        var pending: Endpoint?
    }

    private let board: Board
    private let service: BoardService
    private let listener: ListeningSocket
    private var isListening: Bool
    private var sessions = HTTPSessions()
    private var connection: Connection?
    private var nextNumber = 0

    var address: BindAddress { listener.address }

    /// - Parameter service: the service to serve. The one of a board on its network listens from its start.
    init(_ address: BindAddress, board: Board, service: BoardService = .provisioning) throws {
        self.board = board
        self.service = service
        isListening = service == .provisioning
        listener = try ListeningSocket(address, listens: isListening)
        board.observe { [weak self] event in
            switch (event, service) {
            case (.serviceStopped, .provisioning), (.onNetworkStopped, .onNetwork): self?.shutDown()
            case (.localControlStarted, .localControl): self?.start()
            default: break
            }
            if event == .onNetworkStarted, service == .onNetwork { self?.start() }
            if event == .rebooted { self?.sessions = HTTPSessions() }
        }
    }

    private func start() {
        do {
            try listener.listen()
            isListening = true
        } catch { board.log(.error, "http", "\(error)") }
    }

    // MARK: The loop

    var interests: [Interest] {
        guard isListening else { return [] }
        var interests: [Interest] = []
        if let connection, connection.pending == nil {
            interests.append(Interest(descriptor: connection.descriptor, events: Int16(POLLIN)))
        }
        if !isBusy { interests.append(Interest(descriptor: listener.descriptor, events: Int16(POLLIN))) }
        return interests
    }

    private var isBusy: Bool {
        guard let connection else { return false }
        return connection.pending != nil || connection.head != nil || connection.parser.isMidway
    }

    var due: UInt64? {
        guard let connection, isBusy, connection.pending == nil else { return nil }
        return connection.lastByte + (connection.head != nil ? Self.bodyTimeout : Self.headerTimeout)
    }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {
        if descriptor == listener.descriptor { accept(now: now) } else { receive(now: now) }
    }

    func wake(now: UInt64) {
        finishPending(now: now)
        guard let due, due <= now else { return }
        if connection?.head == nil {
            refuse(.requestTimeout)
        } else {
            drop("body stalled")
        }
    }

    func shutDown() {
        guard isListening else { return }
        isListening = false
        // In this order: a client that sees the end of its connection can no longer connect.
        close(listener.descriptor)
        closeConnection()
    }

    // MARK: Connections

    private func accept(now: UInt64) {
        let descriptor = accept4(
            listener.descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
        guard descriptor >= 0 else { return }
        if connection != nil {
            board.log(.debug, "http", "a new connection pushes the old one out")
            closeConnection()
        }
        nextNumber += 1
        connection = Connection(descriptor: descriptor, number: nextNumber, lastByte: now)
    }

    private func closeConnection() {
        if let connection { close(connection.descriptor) }
        connection = nil
    }

    private func drop(_ reason: String) {
        board.log(.debug, "http", "connection closed: \(reason)")
        closeConnection()
    }

    private func receive(now: UInt64) {
        guard let descriptor = connection?.descriptor else { return }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { closeConnection() }
            return
        }
        connection?.lastByte = now
        connection?.parser.append(buffer[..<count])
        proceed()
    }

    // MARK: Requests

    private func proceed() {
        while let step = connection?.parser.next() {
            switch step {
            case .refused(let status): return refuse(status)
            case .head(let head):
                guard begin(head) else { return }
            case .body(let body): run(body)
            }
            // A handler occupies the task, or the connection has ended.
            guard connection?.pending == nil else { return }
        }
    }

    /// Finds the handler and the session. Returns false if the connection ended.
    private func begin(_ head: HTTPRequestHead) -> Bool {
        guard let connection else { return false }
        guard head.path != nil else {
            drop("a target without a path")
            return false
        }
        guard isKnownPath(head) else {
            refuse(.notFound)
            return false
        }
        guard head.method == Array("POST".utf8) else {
            refuse(.methodNotAllowed)
            return false
        }
        let decision = sessions.session(cookie: head.cookie, connection: connection.number, newID: board.newSessionID)
        if case .new(let id) = decision { board.openSession(id, with: service) }
        guard (1...HTTPRequestParser.bodyLimit).contains(head.contentLength) else {
            board.journal.request(transport: "http", endpoint: endpoint(head), length: 0, outcome: "refused")
            drop("a body of \(head.contentLength) bytes")
            return false
        }
        self.connection?.head = head
        self.connection?.session = decision
        return true
    }

    /// The server finds its handler by path and method (`httpd_uri.c`). The handler uses the whole target except its first byte as the
    /// endpoint (`protocomm_httpd.c`), and so fails if it includes a query or, in the absolute form, a host.
    private func isKnownPath(_ head: HTTPRequestHead) -> Bool {
        guard let path = head.path, path.first == UInt8(ascii: "/") else { return false }
        return board.serves(Endpoint(name: Array(path.dropFirst())), service)
    }

    private func endpoint(_ head: HTTPRequestHead) -> Endpoint { Endpoint(name: Array(head.target.dropFirst())) }

    private func run(_ body: [UInt8]) {
        guard let connection, let head = connection.head, let session = connection.session, isKnownPath(head) else {
            return closeConnection()
        }
        let endpoint = endpoint(head)
        let id: UInt32
        switch session {
        case .same(let current), .new(let current): id = current
        }
        let answer = board.respond(
            to: body, on: endpoint, session: id, transport: service.transport, with: service
        )
        deliver(answer, from: endpoint)
    }

    private func finishPending(now: UInt64) {
        guard let endpoint = connection?.pending else { return }
        let answer = board.delayedAnswer(on: endpoint, transport: "http")
        guard answer != .later else { return }
        connection?.pending = nil
        deliver(answer, from: endpoint)
        proceed()
    }

    private func deliver(_ answer: DeviceAnswer, from endpoint: Endpoint) {
        switch answer {
        case .later: connection?.pending = endpoint
        case .refused: drop("\(endpoint) refused")
        case .reply(let reply):
            var headers: [(name: String, value: String)] = []
            if case .new(let id)? = connection?.session { headers.append(("Set-Cookie", "session=\(id)")) }
            connection?.head = nil
            connection?.session = nil
            send(HTTPStatus.response(headers: headers, body: reply))
        }
    }

    private func refuse(_ status: HTTPStatus) {
        board.log(.debug, "http", "answered \(status.line)")
        guard let descriptor = connection?.descriptor else { return }
        // Errors are sent without delay (`CONFIG_HTTPD_ERR_RESP_NO_DELAY`).
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        send(status.response)
        closeConnection()
    }

    /// Each piece has its own `send()`, as in the firmware.
    private func send(_ pieces: [[UInt8]]) {
        guard let descriptor = connection?.descriptor else { return }
        for piece in pieces {
            var rest = piece[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count < 0, errno == EAGAIN, isWritable(descriptor) {
                    continue
                } else {
                    return closeConnection()
                }
            }
        }
    }

    /// Answers are smaller than any socket buffer, so this waits only for a client that reads nothing at all.
    private func isWritable(_ descriptor: Int32) -> Bool {
        pollDescriptor(descriptor, for: .writable, until: .after(milliseconds: 200))
    }
}

/// Finds the security session of a request by the rules of `protocomm_httpd.c`: one session, identified by a cookie or by the connection
/// that began it.
struct HTTPSessions {
    /// The buffer for the cookie's value holds 20 bytes, including its NUL. A longer cookie counts as missing.
    private static let cookieLimit = 19

    private(set) var current: UInt32?
    private var owner: Int?

    enum Decision: Equatable {
        case same(UInt32)
        case new(UInt32)
    }

    /// - Parameters:
    ///   - connection: a unique number of the connection.
    ///   - newID: returns the id for a new session.
    mutating func session(cookie: [UInt8]?, connection: Int, newID: () -> UInt32) -> Decision {
        if let cookie, cookie.count <= Self.cookieLimit {
            if let current, cookie == Array("session=\(current)".utf8) {
                // From here on the cookie counts, and the connection no longer does.
                owner = nil
                return .same(current)
            }
        } else if let current, owner == connection {
            return .same(current)
        }
        let id = newID()
        current = id
        owner = connection
        return .new(id)
    }
}

/// A TCP socket that listens, and its address.
private struct ListeningSocket {
    let descriptor: Int32
    let address: BindAddress

    /// Binds a socket. With port 0 the system chooses the port.
    /// - Parameter listens: false to only reserve the address until ``listen()``. Until then connections are refused.
    init(_ wanted: BindAddress, listens: Bool = true) throws {
        let (family, descriptor) = try wanted.isVersion6 ? Self.open(AF_INET6) : Self.open(AF_INET)
        if wanted.port != 0 {
            // Not for a port that the system chooses: two processes could get the same one.
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        do {
            let port =
                family == AF_INET6 ? try Self.bind6(descriptor, to: wanted) : try Self.bind4(descriptor, to: wanted)
            self.descriptor = descriptor
            address = BindAddress(host: wanted.host, port: port)
            if listens { try listen() }
        } catch {
            close(descriptor)
            throw error
        }
    }

    func listen() throws {
        guard Glibc.listen(descriptor, 5) == 0 else { throw Self.failure(address) }
    }

    private static func open(_ family: Int32) throws -> (family: Int32, descriptor: Int32) {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw StartError("no socket: \(systemErrorText(errno))") }
        return (family, descriptor)
    }

    private static func bind4(_ descriptor: Int32, to wanted: BindAddress) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.port.bigEndian
        let host = wanted.host == "localhost" ? "127.0.0.1" : wanted.host
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            throw StartError(
                "\(wanted): not an IP address; try 127.0.0.1:\(wanted.port), or an IPv6 address in brackets")
        }
        try bind(descriptor, &address, wanted)
        return UInt16(bigEndian: address.sin_port)
    }

    /// `[::]` accepts connections over IPv4 as well.
    private static func bind6(_ descriptor: Int32, to wanted: BindAddress) throws -> UInt16 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = wanted.port.bigEndian
        guard inet_pton(AF_INET6, String(wanted.host.dropFirst().dropLast()), &address.sin6_addr) == 1 else {
            throw StartError("\(wanted): not an IPv6 address in brackets; try [::]:\(wanted.port)")
        }
        try bind(descriptor, &address, wanted)
        return UInt16(bigEndian: address.sin6_port)
    }

    /// Binds, and reads the resulting address.
    private static func bind<Address>(
        _ descriptor: Int32, _ address: inout Address, _ wanted: BindAddress
    ) throws {
        var length = socklen_t(MemoryLayout<Address>.size)
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                Glibc.bind(descriptor, generic, length) != 0 || getsockname(descriptor, generic, &length) != 0
            }
        }
        if failed { throw failure(wanted) }
    }

    private static func failure(_ address: BindAddress) -> StartError {
        StartError("cannot listen on \(address): \(systemErrorText(errno))")
    }
}
