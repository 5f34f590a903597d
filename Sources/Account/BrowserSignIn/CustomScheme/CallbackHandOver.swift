// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// The handler's side: gives the address that the desktop started it with to the sign-in that waits for it.
public enum CallbackHandOver {
    /// The verdict of the waiting sign-in on the address.
    public enum Outcome: Sendable, Equatable {
        /// The address is the answer that the sign-in waited for. The handler can end.
        case taken
        /// A sign-in waits, and this is not its answer.
        case refused
    }

    private static let limit = timeval(tv_sec: 5, tv_usec: 0)

    /// - Parameter folder: ``CustomSchemeUserAgent``'s.
    /// - Throws: `noAnswer` if no sign-in waits for this scheme, `cannotListen` if its socket belongs to somebody else.
    public static func deliver(_ url: Secret, folder: String) throws(AccountError) -> Outcome {
        let text = url.revealString()
        guard let scheme = CallbackFolder.scheme(of: text), !text.utf8.contains(0x0A),
            text.utf8.count < CallbackSocket.maximumBytes
        else {
            throw AccountError(
                .invalidConfiguration, message: "the address to hand over is none with a scheme of its own")
        }
        let path = CallbackFolder.socket(folder: folder, scheme: scheme)
        guard let address = UnixAddress(path) else {
            throw AccountError(.cannotListen, message: "\(path) is too long for a socket")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw AccountError(.cannotListen, message: "no socket: \(systemWords())") }
        defer { close(descriptor) }
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            var limit = limit
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard address.call({ connect($0, $1, $2) }, descriptor) == 0 else {
            throw AccountError(.noAnswer, message: "no sign-in waits for this address", remedies: [.signIn])
        }
        guard PeerCredentials(of: descriptor)?.userID == geteuid() else {
            throw AccountError(.cannotListen, message: "\(path) belongs to another user; nothing was handed over")
        }
        var rest = Array(text.utf8)[...] + [0x0A]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw AccountError(.noAnswer, message: "the sign-in does not listen any more") }
            rest = rest.dropFirst(count)
        }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 && buffer[..<count].starts(with: "taken".utf8) ? .taken : .refused
    }
}

/// The folder of the sockets, below `XDG_RUNTIME_DIR`.
package enum CallbackFolder {
    static func socket(folder: String, scheme: String) -> String { "\(folder)/callback-\(scheme).sock" }

    /// The scheme in lower case, safe as part of a file name; nil for `http`, `https` and others that no application may take.
    package static func scheme(of url: String) -> String? {
        guard let end = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = String(url[..<end]).lowercased()
        let isValid = scheme.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
        }
        guard isValid, let first = scheme.utf8.first, (0x61...0x7A).contains(first), scheme.utf8.count <= 64,
            !["http", "https", "file", "javascript", "data"].contains(scheme)
        else { return nil }
        return scheme
    }

    /// Makes the folder with mode 0700. A folder that exists must belong to the user and have that mode already.
    static func make(_ folder: String) throws(AccountError) {
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw AccountError(.cannotListen, message: "\(folder) cannot be made: \(systemWords())")
        }
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0
        else {
            throw AccountError(
                .cannotListen, message: "\(folder) is not a folder of yours alone (mode 0700); remove it and try again")
        }
    }
}
