// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainDescriptors
import Glibc
import RainIO
import Synchronization

/// Serves HTTP/1.1 on one TCP port, each connection on its own thread.
///
/// There are few connections, requests are short, and handlers may compute. Threads are the simplest design that keeps its limits
/// (connections, head, body, and the time that a request may take to arrive).
final class HTTPListener: Sendable {
    /// The maximum number of connections. Further ones are closed at once.
    private static let maximumConnections = 256
    /// How long a connection may be silent between two requests.
    private static let idleLimit: Int32 = 60_000
    /// How long a request may take from its first byte to its last, in milliseconds; also for the response.
    private static let requestLimit: Int32 = 15_000

    typealias Handler = @Sendable (Request) -> Response

    let port: UInt16
    private let socket: Int32
    private let handler: Handler
    /// Answers bytes that are not HTTP: status and reason.
    private let refusal: @Sendable (Int, String) -> Response
    /// Returns the milliseconds since 1970, for the `Date` of responses.
    private let clock: @Sendable () -> Int64
    private let connections = Mutex<Set<Int32>>([])
    private let isStopping = Atomic(false)

    /// Binds at once. With port 0 the system chooses the port.
    init(
        address: ListenAddress, clock: @escaping @Sendable () -> Int64 = wallClock,
        refusal: @escaping @Sendable (Int, String) -> Response, handler: @escaping Handler
    ) throws(SimulatorError) {
        (socket, port) = try address.bind()
        self.clock = clock
        self.refusal = refusal
        self.handler = handler
    }

    func start() {
        mustStartThread { [self] in
            while true {
                // Close-on-exec, so that a broker that starts now does not inherit the socket.
                let connection = accept4(socket, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
                guard connection >= 0 else {
                    if isStopping.load(ordering: .acquiring) { return }
                    // If no descriptor is free, wait a moment instead of spinning. If the peer is gone, no wait is needed.
                    if errno != EINTR && errno != ECONNABORTED { usleep(10_000) }
                    continue
                }
                let accepted = connections.withLock { open in
                    guard open.count < Self.maximumConnections else { return false }
                    open.insert(connection)
                    return true
                }
                guard accepted else {
                    close(connection)
                    continue
                }
                mustStartThread { [self] in
                    serve(connection)
                    connections.withLock { open in
                        open.remove(connection)
                        close(connection)
                    }
                }
            }
        }
    }

    /// Accepts no new connections and ends the open ones.
    func stop() {
        guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
        connections.withLock { open in
            for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private func serve(_ connection: Int32) {
        var one: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var limit = timeval(tv_sec: Int(Self.requestLimit) / 1000, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))

        var parser = RequestParser()
        var begun: Int64?
        while true {
            switch parser.next() {
            case .request(let request):
                begun = nil
                let response = handler(request)
                if let takeOver = response.takeOver, response.delivery == .whole {
                    guard send(response.serialized(keepsConnection: true, now: clock()), to: connection) else { return }
                    return takeOver.serve(connection)
                }
                let keeps = request.keepsConnection && response.delivery == .whole
                guard deliver(response, to: connection, keepsConnection: keeps) else { return }
            case .refuse(let status, let reason):
                _ = deliver(refusal(status, reason), to: connection, keepsConnection: false)
                return
            case .needsMore:
                let now = monotonicMilliseconds()
                if parser.isWithinRequest { begun = begun ?? now }
                let left = begun.map { Int64(Self.requestLimit) - (now - $0) } ?? Int64(Self.idleLimit)
                switch receive(from: connection, within: Int32(clamping: left)) {
                case .bytes(let bytes): parser.append(bytes)
                case .ended:
                    // The peer may have closed only its sending side, and may still wait for a response.
                    if parser.isWithinRequest {
                        _ = deliver(refusal(400, "the request ends half-way"), to: connection, keepsConnection: false)
                    }
                    return
                case .late:
                    if parser.isWithinRequest {
                        _ = deliver(refusal(408, "the request took too long"), to: connection, keepsConnection: false)
                    }
                    return
                }
            }
        }
    }

    /// Returns whether the connection stays open.
    private func deliver(_ response: Response, to connection: Int32, keepsConnection: Bool) -> Bool {
        if response.delayMilliseconds > 0 {
            // Ends early if the peer is gone.
            _ = pollDescriptor(connection, for: [], until: .after(milliseconds: response.delayMilliseconds))
        }
        switch response.delivery {
        case .whole, .halved:
            let bytes = response.serialized(keepsConnection: keepsConnection, now: clock())
            if send(bytes, to: connection), keepsConnection { return true }
            linger(connection)
        case .cut:
            _ = send(response.serialized(keepsConnection: false, now: clock()), to: connection)
            // The bytes must arrive before the reset, because a reset makes the peer drop unread bytes.
            usleep(20_000)
            reset(connection)
        case .reset: reset(connection)
        case .never: while case .bytes = receive(from: connection, within: Self.idleLimit) {}
        }
        return false
    }

    /// Closing will now send a reset instead of an orderly end.
    private func reset(_ connection: Int32) {
        var now = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    private enum Received { case bytes([UInt8]), ended, late }

    private func receive(from connection: Int32, within milliseconds: Int32) -> Received {
        guard milliseconds > 0,
            pollDescriptor(connection, for: .readable, until: .after(milliseconds: Int64(milliseconds)))
        else { return .late }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
            count = max(0, recv(connection, buffer.baseAddress, buffer.count, 0))
        }
        return bytes.isEmpty ? .ended : .bytes(bytes)
    }

    private func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads and drops the peer's remaining bytes, for at most a second. Closing with unread bytes would reset the connection, and the peer
    /// might lose the response.
    private func linger(_ connection: Int32) {
        shutdown(connection, Int32(SHUT_WR))
        let end = monotonicMilliseconds() + 1000
        while case .bytes = receive(from: connection, within: Int32(clamping: end - monotonicMilliseconds())) {}
    }
}

/// A numeric `HOST:PORT` to listen on: `127.0.0.1:0`, `[::1]:8080`, `0.0.0.0:39187`.
public struct ListenAddress: Sendable, Equatable {
    public var host: String
    public var port: UInt16

    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if host == "localhost" { host = "127.0.0.1" }
        self.init(host: String(host), port: port)
        guard isIPv6 || inet_addr(self.host) != INADDR_NONE else { return nil }
    }

    private var isIPv6: Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, host, &address) == 1
    }

    /// The host as in a URL.
    var urlHost: String { isIPv6 ? "[\(host)]" : host }

    /// Opens a listening socket, and returns it with its port.
    func bind() throws(SimulatorError) -> (socket: Int32, port: UInt16) {
        let socket = Glibc.socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw failure("no socket") }
        var one: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bound = withUnsafeMutablePointer(to: &storage) { storage in
            let size = fill(UnsafeMutableRawPointer(storage))
            return storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.bind(socket, address, size) == 0 && listen(socket, SOMAXCONN) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        guard bound else {
            let error = failure("cannot listen")
            close(socket)
            throw error
        }
        let port = withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
        return (socket, port)
    }

    private func failure(_ what: String) -> SimulatorError {
        SimulatorError(
            .unavailable, "\(what) on \(urlHost):\(port): \(systemErrorText(errno)); choose another --listen")
    }

    private func fill(_ storage: UnsafeMutableRawPointer) -> socklen_t {
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &address.sin6_addr)
            storage.storeBytes(of: address, as: sockaddr_in6.self)
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        storage.storeBytes(of: address, as: sockaddr_in.self)
        return socklen_t(MemoryLayout<sockaddr_in>.size)
    }
}
