// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc

/// The address of a Unix socket.
package struct UnixAddress {
    private var address = sockaddr_un()

    /// Returns nil if the path is longer than 107 bytes.
    package init?(_ path: String) {
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    }

    /// Calls `bind` or `connect` with this address.
    package func call(_ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Whether a process listens there.
    package func isAnswered() -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return call({ connect($0, $1, $2) }, descriptor) == 0
    }
}

/// The process at the other end of a Unix socket, as the kernel reports it (`SO_PEERCRED`, unix(7)).
package struct PeerCredentials {
    package var userID: uid_t

    package init?(of descriptor: Int32) {
        // This is struct ucred: pid, uid, gid. Glibc's module does not have it.
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, UInt32.max, UInt32.max)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
            length == socklen_t(MemoryLayout.size(ofValue: credentials))
        else { return nil }
        userID = credentials.uid
    }
}
