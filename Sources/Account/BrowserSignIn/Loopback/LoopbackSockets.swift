// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// Listening sockets on this machine's own addresses, 127.0.0.1 and ::1, with one port between them. No other machine can reach
/// them. Closed by ``close()``.
struct LoopbackSockets: Sendable {
    let port: UInt16
    let descriptors: [Int32]
    /// Whether 127.0.0.1 is among them; a machine may have IPv6 alone.
    let hasIPv4: Bool
    let hasIPv6: Bool

    /// - Parameter port: 0 for any that is free in both families.
    /// - Throws: `cannotListen` where neither address gives the port.
    init(port wanted: UInt16) throws(AccountError) {
        var failure: Int32 = 0
        // Another program may have the port in one family only: a few other ports are tried then.
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
        let what = wanted == 0 ? "no port of this machine can" : "port \(wanted) of this machine cannot"
        throw AccountError(
            .cannotListen,
            message: "\(what) be listened on for the browser's answer (\(String(cString: strerror(failure))))",
            remedies: wanted == 0 ? [.pastedAddress] : [.otherCallbackPort, .pastedAddress])
    }

    func close() { for descriptor in descriptors { Glibc.close(descriptor) } }

    /// A non-blocking listener, or -1 with `errno` set. Tells the port that was chosen.
    private static func listen(_ family: Int32, _ port: inout UInt16) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { return -1 }
        var one: Int32 = 1
        if family == AF_INET6 {
            setsockopt(
                descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<Int32>.size))
        }
        // A given port can be used again at once, although earlier connections are still in TIME_WAIT.
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
        // The port stands at the same place in both families.
        port = withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
        return true
    }
}
