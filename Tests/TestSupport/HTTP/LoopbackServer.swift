// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import Synchronization

/// A TCP server on a free port of 127.0.0.1 whose every connection is served by one closure on its own thread.
///
/// It is for tests that need a server to misbehave: to fall silent, to cut a body, to reset. It ends when it is let go.
public final class LoopbackServer: Sendable {
    public let port: Int
    private let listener: Int32
    private let accepted = Watched(0)
    private let requests = Watched<[LoopbackRequest]>([])

    /// - Parameter remembersRequests: whether ``seen`` keeps what came.
    public init(remembersRequests: Bool = true, _ serve: @escaping @Sendable (LoopbackPeer) -> Void) throws {
        let (listener, port) = try listenOnLoopback()
        self.listener = listener
        self.port = port
        let accepted = accepted
        let requests = remembersRequests ? requests : nil
        startThread {
            while true {
                let descriptor = acceptPrivately(listener)
                guard descriptor >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    break
                }
                var number = 0
                accepted.change {
                    $0 += 1
                    number = $0
                }
                let peer = LoopbackPeer(descriptor: descriptor, connection: number, requests: requests)
                startThread {
                    serve(peer)
                    peer.close()
                }
            }
            Glibc.close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    public var url: String { "http://127.0.0.1:\(port)/" }
    /// How many connections were accepted up to now.
    public var connections: Int { accepted.read { $0 } }
    /// All requests that were read up to now, in order of their arrival.
    public var seen: [LoopbackRequest] { requests.read { $0 } }

    /// A port of 127.0.0.1 on which nobody listens, nor will: it stays taken as long as the process runs.
    public static func refusedPort() throws -> Int { try boundToLoopback().port }

    /// Ports that this process has given out already.
    private static let assigned = Mutex<Set<Int>>([])

    /// A free port of 127.0.0.1 for a program that needs one. The kernel gives ports from 32768 on to connections, and the simulators
    /// choose theirs below 30000, so nobody takes it before the program does. It is given out once.
    public static func assignablePort() throws -> Int {
        for _ in 0..<1000 {
            guard let (descriptor, port) = try? boundToLoopback(.random(in: 30_000..<31_500)) else { continue }
            Glibc.close(descriptor)
            if assigned.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw ProcessError("no free port from 30000 to 31500")
    }
}

/// A request as it came over the wire.
public struct LoopbackRequest: Sendable, Equatable {
    /// The request line and the header lines, as they came.
    public var lines: [String]
    public var body: [UInt8]

    public var requestLine: String { lines.first ?? "" }

    /// The header's value, the name being compared without regard to case.
    public func header(_ name: String) -> String? {
        let start = name.lowercased() + ":"
        guard let line = lines.dropFirst().first(where: { $0.lowercased().hasPrefix(start) }) else { return nil }
        return String(line.dropFirst(start.count).drop { $0 == " " })
    }
}

/// The server's end of one connection. All calls block, and end when the client goes.
public final class LoopbackPeer: Sendable {
    /// 1 for the first connection that the server accepted.
    public let connection: Int
    private let descriptor: Int32
    private let requests: Watched<[LoopbackRequest]>?
    private let isOpen = Watched(true)

    init(descriptor: Int32, connection: Int, requests: Watched<[LoopbackRequest]>?) {
        self.descriptor = descriptor
        self.connection = connection
        self.requests = requests
        var limit = timeval(tv_sec: Int(Duration.waitLimit.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// One request with its body; nil when the client closed the connection.
    public func readRequest() -> LoopbackRequest? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard let byte = read(1)?.first else { return nil }
            head.append(byte)
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        var request = LoopbackRequest(lines: lines, body: [])
        if let length = request.header("Content-Length").flatMap(Int.init) {
            while request.body.count < length {
                guard let more = read(length - request.body.count) else { return nil }
                request.body += more
            }
        }
        requests?.change { $0.append(request) }
        return request
    }

    /// Up to `count` bytes; nil at the end of the stream.
    public func read(_ count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            let length = recv(descriptor, &buffer, count, 0)
            if length > 0 { return Array(buffer[..<length]) }
            if length == 0 || errno != EINTR { return nil }
        }
    }

    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
        }
        return true
    }

    @discardableResult
    public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// A whole response of one body.
    public func respond(_ status: String = "200 OK", headers: [String] = [], _ body: String = "") {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
        write(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Waits until the client has closed its end, and says whether it did.
    @discardableResult
    public func waitForClose() -> Bool {
        while let bytes = read(4096) { if bytes.isEmpty { return false } }
        return errno != EAGAIN
    }

    /// Nothing more comes from this end, though it still reads.
    public func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Drops the connection, so that the client meets `ECONNRESET`.
    public func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    public func close() {
        var wasOpen = false
        isOpen.change {
            wasOpen = $0
            $0 = false
        }
        if wasOpen { Glibc.close(descriptor) }
    }
}

/// `accept4`, which Glibc's module leaves out: a child that another test starts must not inherit the connection.
private func acceptPrivately(_ listener: Int32) -> Int32 {
    typealias Accept = @convention(c) (Int32, OpaquePointer?, OpaquePointer?, Int32) -> Int32
    guard let symbol = dlsym(nil, "accept4") else { return -1 }
    return unsafeBitCast(symbol, to: Accept.self)(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
}

private func listenOnLoopback() throws -> (descriptor: Int32, port: Int) {
    let bound = try boundToLoopback()
    guard listen(bound.descriptor, 128) == 0 else {
        throw ProcessError("no loopback socket: \(systemErrorText(errno))")
    }
    return bound
}

/// - Parameter port: 0 is any that is free.
private func boundToLoopback(_ port: UInt16 = 0) throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) != 0 || getsockname(descriptor, $0, &length) != 0
        }
    }
    guard descriptor >= 0, !failed else {
        defer { if descriptor >= 0 { Glibc.close(descriptor) } }
        throw ProcessError("no loopback socket: \(systemErrorText(errno))")
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}
