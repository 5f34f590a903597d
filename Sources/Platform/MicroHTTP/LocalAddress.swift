// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An IP address with a port, to listen on: `127.0.0.1:8080`, `[::1]:8080`, `localhost:0`.
package struct LocalAddress: Sendable, Equatable {
    /// The address without brackets.
    package var host: String
    /// 0 lets the system choose one.
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads an address. Throws `invalidAddress`.
    package init(_ text: String) throws(LocalServerError) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw .invalidAddress
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard Self.isIPv6(String(host)) else { throw .invalidAddress }
        } else if host == "localhost" {
            host = "127.0.0.1"
        } else {
            guard Self.isIPv4(String(host)) else { throw .invalidAddress }
        }
        self.init(host: String(host), port: port)
    }

    /// Whether only programs of this machine can reach it.
    package var isLoopback: Bool { host == "::1" || (Self.isIPv4(host) && host.hasPrefix("127.")) }
    /// Whether it stands for all addresses of the machine.
    package var isWildcard: Bool { host == "0.0.0.0" || host == "::" }
    /// The address as in a URL.
    package var authority: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }

    package static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    package static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }

    /// Opens a listening socket, and returns it with its port. The caller closes it.
    func listen() throws(LocalServerError) -> (Int32, UInt16) {
        let isIPv6 = Self.isIPv6(host)
        let listener = socket(
            isIPv6 ? AF_INET6 : AF_INET,
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard listener >= 0 else { throw .cannotListen(errno) }
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var storage = sockaddr_storage()
        let size = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var length = socklen_t(size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer -> Int32 in
            let raw = UnsafeMutableRawPointer(pointer)
            if isIPv6 {
                let address = raw.assumingMemoryBound(to: sockaddr_in6.self)
                address.pointee.sin6_family = sa_family_t(AF_INET6)
                address.pointee.sin6_port = port.bigEndian
                _ = inet_pton(AF_INET6, host, &address.pointee.sin6_addr)
            } else {
                let address = raw.assumingMemoryBound(to: sockaddr_in.self)
                address.pointee.sin_family = sa_family_t(AF_INET)
                address.pointee.sin_port = port.bigEndian
                _ = inet_pton(AF_INET, host, &address.pointee.sin_addr)
            }
            let address = raw.assumingMemoryBound(to: sockaddr.self)
            guard bind(listener, address, length) == 0, Glibc.listen(listener, 64) == 0,
                getsockname(listener, address, &length) == 0
            else { return errno }
            return 0
        }
        guard result == 0 else {
            close(listener)
            throw .cannotListen(result)
        }
        // Both families have the port after the family.
        return (listener, withUnsafeBytes(of: &storage) { UInt16($0[2]) << 8 | UInt16($0[3]) })
    }
}
