// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A `HOST:PORT` to listen on, the host in figures: `127.0.0.1:0`, `[::1]:8080`, `0.0.0.0:39187`.
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

    var isIPv6: Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, host, &address) == 1
    }

    /// As it stands in a URL.
    var urlHost: String { isIPv6 ? "[\(host)]" : host }

    /// A listening socket, and the port it got.
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
            .unavailable, "\(what) on \(urlHost):\(port): \(String(cString: strerror(errno))); choose another --listen")
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
