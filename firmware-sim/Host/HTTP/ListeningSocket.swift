// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A TCP socket that listens, and where it ended up.
struct ListeningSocket {
    let descriptor: Int32
    let address: BindAddress

    /// Port 0 lets the system choose.
    /// - Parameter listens: false to have the address alone until ``listen()``: connections are refused so long.
    init(_ wanted: BindAddress, listens: Bool = true) throws {
        let (family, descriptor) = try wanted.isVersion6 ? Self.open(AF_INET6) : Self.open(AF_INET)
        if wanted.port != 0 {
            // Not for a port of the system's choice: two processes could be given the same one.
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
        guard descriptor >= 0 else { throw StartError("no socket: \(lastSystemError())") }
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

    /// `[::]` takes connections over IPv4 as well.
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

    /// Binds, and reads where it ended up.
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
        StartError("cannot listen on \(address): \(lastSystemError())")
    }
}

func lastSystemError() -> String { String(cString: strerror(errno)) }
