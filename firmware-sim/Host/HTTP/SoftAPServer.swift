// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import DeviceCore
import Glibc
import ProtocommCore
import RainIO

/// The board's HTTP server: one task, one connection, behaving as `esp_http_server` does under `protocomm_httpd`.
///
/// While the task waits for the rest of a request or for a handler, no other connection is accepted; a new connection to an idle server
/// closes the old one. A handler's error closes the connection without a response.
final class SoftAPServer: EventSource {
    /// `recv_wait_timeout` of the server's configuration.
    static let headerTimeout: UInt64 = 5000
    /// Two such waits.
    static let bodyTimeout: UInt64 = 10_000

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

    /// - Parameter service: the one that is served; that of a board on its network listens from the moment at which it starts.
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

    // MARK: the loop

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
        // In this order: a client that sees the connection end can no longer connect.
        close(listener.descriptor)
        closeConnection()
    }

    // MARK: connections

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

    // MARK: requests

    private func proceed() {
        while let step = connection?.parser.next() {
            switch step {
            case .refused(let status): return refuse(status)
            case .head(let head):
                guard begin(head) else { return }
            case .body(let body): run(body)
            }
            // A handler occupies the task, or the connection is gone.
            guard connection?.pending == nil else { return }
        }
    }

    /// Finds the handler and the session; false where that was the end of the connection.
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

    /// The server finds its handler by path and method (`httpd_uri.c`). It is the handler that takes the whole target but its first byte
    /// for the endpoint (`protocomm_httpd.c`), and so fails where a query or, in the absolute form, a host belongs to it.
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
        // Errors go out without delay (`CONFIG_HTTPD_ERR_RESP_NO_DELAY`).
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        send(status.response)
        closeConnection()
    }

    /// Each piece by its own `send()`, as the firmware does.
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
