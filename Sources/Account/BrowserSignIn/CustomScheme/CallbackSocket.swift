// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainIO

/// A socket in the user's runtime folder at which the handler of a redirect URI's scheme hands over the address that it was
/// started with. Only the same user's processes are listened to.
struct CallbackSocket: RedirectSource {
    let path: String
    private let descriptor: Int32

    static let maximumBytes = 64 << 10
    private static let handOverLimit = Duration.seconds(5)

    /// - Throws: `cannotListen` if the path is too long for a socket or if another sign-in listens there.
    init(path: String) throws(AccountError) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure(path, systemWords()) }
        do throws(AccountError) {
            try listen()
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private func listen() throws(AccountError) {
        guard let address = UnixAddress(path) else { throw Self.failure(path, "the path is too long for a socket") }
        if address.isAnswered() { throw Self.failure(path, "another sign-in waits for its answer there") }
        unlink(path)
        // The socket file takes its mode from the socket: it is private from its first moment on.
        fchmod(descriptor, 0o600)
        guard address.call(bind, descriptor) == 0, Glibc.listen(descriptor, 4) == 0 else {
            throw Self.failure(path, systemWords())
        }
        guard chmod(path, 0o600) == 0 else {
            unlink(path)
            throw Self.failure(path, systemWords())
        }
    }

    func close() {
        unlink(path)
        Glibc.close(descriptor)
    }

    func serve(_ matcher: RedirectMatcher) async throws(AccountError) {
        let failure: Int32 = try await onListeningThread { interrupt in run(matcher, interrupt) }
        guard failure == 0 else { throw Self.failure(path, String(cString: strerror(failure))) }
    }

    /// Takes one connection after the other: each is short, and comes from the user's own processes.
    private func run(_ matcher: RedirectMatcher, _ interrupt: Int32) -> Int32 {
        while matcher.answer == nil {
            var watched: [PollEntry] = [.readable(interrupt), .readable(descriptor)]
            if case .failed(let code) = pollDescriptors(&watched) { return code }
            if watched[0].isReady { return 0 }
            let peer = accept4(descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
            guard peer >= 0 else { continue }
            defer { Glibc.close(peer) }
            guard PeerCredentials(of: peer)?.userID == geteuid() else { continue }
            guard let url = readLine(from: peer, interrupt) else { continue }
            let word: String
            switch matcher.consider(url: url) {
            case .answer: word = "taken\n"
            case .stray: word = "stray\n"
            case .foreign(let answer):
                matcher.tell(answer)
                word = "stray\n"
            case .late: word = "late\n"
            }
            _ = Array(word.utf8).withUnsafeBytes { send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        return 0
    }

    private func readLine(from peer: Int32, _ interrupt: Int32) -> String? {
        let end = MonotonicDeadline.after(Self.handOverLimit)
        var bytes: [UInt8] = []
        while bytes.last != 0x0A {
            guard bytes.count <= Self.maximumBytes else { return nil }
            var watched: [PollEntry] = [.readable(interrupt), .readable(peer)]
            guard pollDescriptors(&watched, until: end) == .ready, !watched[0].isReady, !end.isOver else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(peer, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }

    private static func failure(_ path: String, _ words: String) -> AccountError {
        AccountError(.cannotListen, message: "the browser's answer cannot be listened for at \(path): \(words)")
    }
}
