// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import TestSupport
import Testing

/// The kinds of streams; each test runs for all of them.
enum StreamKind: CaseIterable {
    case terminal, socketPair, tcp

    func open() async throws -> (ByteStream, any FarEnd) {
        switch self {
        case .terminal:
            let terminal = try PseudoTerminal()
            let descriptor = Glibc.open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            var settings = termios()
            tcgetattr(descriptor, &settings)
            cfmakeraw(&settings)
            tcsetattr(descriptor, TCSANOW, &settings)
            let stream = try ByteStream.terminal(descriptor, peer: terminal.path) { _ in close(descriptor) }
            return (stream, terminal)
        case .socketPair:
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            return (try ByteStream.socket(ends[0], peer: "a pair"), SocketEnd(ends[1]))
        case .tcp:
            let listener = try LoopbackListener()
            let stream = try await TCPConnection.open(host: "127.0.0.1", port: listener.port)
            return (stream, try listener.accept())
        }
    }
}

/// A listening TCP socket of this machine.
final class LoopbackListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init(_ host: String = "127.0.0.1") throws {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        var list: UnsafeMutablePointer<addrinfo>?
        try #require(getaddrinfo(host, "0", &hints, &list) == 0)
        defer { freeaddrinfo(list) }
        let address = try #require(list).pointee
        descriptor = socket(address.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 && listen(descriptor, 4) == 0)
        var length = address.ai_addrlen
        try #require(getsockname(descriptor, address.ai_addr, &length) == 0)
        // The port is at the same place in the addresses of both families.
        port = address.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            UInt16(bigEndian: $0.pointee.sin_port)
        }
    }

    deinit { close(descriptor) }

    /// The connection that was made already.
    func accept() throws -> SocketEnd {
        let connection = Glibc.accept(descriptor, nil, nil)
        try #require(connection >= 0)
        return SocketEnd(connection)
    }
}
