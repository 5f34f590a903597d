// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A port of this machine that never accepts a connection. Its queue is full, so the kernel drops every further attempt, and `connect`
/// lasts until the client gives up.
public final class SilentListener: Sendable {
    public let port: UInt16
    private let sockets: [Int32]

    public init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> [Int32]? in
                guard bind(listener, generic, length) == 0, listen(listener, 0) == 0,
                    getsockname(listener, generic, &length) == 0
                else { return nil }
                // More than a queue of length 0 takes (one); what does not fit stays half-way.
                return (0..<4).map { _ in
                    let client = socket(
                        AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
                    connect(client, generic, length)
                    return client
                }
            }
        }
        guard let connected else {
            close(listener)
            throw ProcessError("no port for a silent listener")
        }
        port = UInt16(bigEndian: address.sin_port)
        sockets = [listener] + connected
    }

    deinit { for socket in sockets { close(socket) } }
}
