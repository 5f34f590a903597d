// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A TCP socket that listens, and where it ended up.
struct ListeningSocket {
    let descriptor: Int32
    let address: BindAddress

    /// Port 0 lets the system choose.
    init(_ wanted: BindAddress) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.port.bigEndian
        let host = wanted.host == "localhost" ? "127.0.0.1" : wanted.host
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            throw StartError("\(wanted): not an IPv4 address; try 127.0.0.1:\(wanted.port)")
        }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw StartError("no socket: \(lastSystemError())") }
        if wanted.port != 0 {
            // Not for a port of the system's choice: two processes could be given the same one.
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) != 0 || listen(descriptor, 5) != 0
                    || getsockname(descriptor, generic, &length) != 0
            }
        }
        guard !failed else {
            let reason = lastSystemError()
            close(descriptor)
            throw StartError("cannot listen on \(wanted): \(reason)")
        }
        self.descriptor = descriptor
        self.address = BindAddress(host: wanted.host, port: UInt16(bigEndian: address.sin_port))
    }
}

func lastSystemError() -> String { String(cString: strerror(errno)) }
