// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainCore
import RainIO

/// Receives the answer through a private-use URI scheme (RFC 8252, section 7.1). The desktop starts a handler with the address, and the
/// handler passes it on through a socket in the user's runtime folder.
///
/// The address is among the handler's arguments, where other users can read it for a moment. The code is of no use to them without the code
/// verifier. Prefer the loopback agent if the provider allows it.
public struct CustomSchemeUserAgent: AuthorizationUserAgent {
    private let target: String
    private let folder: String
    private let register: @Sendable (_ scheme: String) async throws(AccountError) -> Void
    private let opener: SignInPageOpener

    /// - Parameters:
    ///   - redirectURI: the registered URI, such as `com.example.app:/callback`.
    ///   - folder: the folder for the socket, below `XDG_RUNTIME_DIR`. It is created if it is missing.
    ///   - register: makes the desktop start the handler for the scheme; see ``SchemeHandler``.
    public init(
        redirectURI: String, folder: String, pasted: (any PastedAddresses)? = nil,
        within limit: Duration = .seconds(300), by clock: any Clock<Duration> = ContinuousClock(),
        register: @escaping @Sendable (_ scheme: String) async throws(AccountError) -> Void,
        report: ReportForeignAnswer? = nil, show: @escaping ShowSignInPage
    ) {
        target = redirectURI
        self.folder = folder
        self.register = register
        opener = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, report: report, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        let target = RedirectTarget(redirectURI: try redirectURI(target))
        guard let scheme = CallbackFolder.scheme(of: target.redirectURI.text) else {
            throw AccountError(
                .invalidConfiguration,
                message: "\"\(target.redirectURI.text)\" has no scheme that an application may use")
        }
        try CallbackFolder.make(folder)
        let socket = try CallbackSocket(path: CallbackFolder.socket(folder: folder, scheme: scheme))
        defer { socket.close() }
        try await register(scheme)
        return try await opener.authorize(attempt, at: target, hearing: socket)
    }
}

/// A socket in the user's runtime folder. The handler of a redirect URI's scheme sends the address there that it was started with. Only
/// processes of the same user are accepted.
struct CallbackSocket: RedirectSource {
    private let path: String
    private let descriptor: Int32

    fileprivate static let maximumBytes = 64 << 10
    private static let handOverLimit = Duration.seconds(5)

    /// - Throws: `cannotListen` if the path is too long for a socket, or if another sign-in listens there.
    init(path: String) throws(AccountError) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure(path, systemErrorText(errno)) }
        do throws(AccountError) {
            try listen()
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private func listen() throws(AccountError) {
        guard let address = UnixAddress(path) else { throw Self.failure(path, "the path is too long for a socket") }
        if address.isAnswered() {
            throw Self.failure(path, "another sign-in already waits for an answer on this socket")
        }
        unlink(path)
        // The socket file gets its mode from the socket, so it is private from the beginning.
        fchmod(descriptor, 0o600)
        guard address.call(bind, descriptor) == 0, Glibc.listen(descriptor, 4) == 0 else {
            throw Self.failure(path, systemErrorText(errno))
        }
        guard chmod(path, 0o600) == 0 else {
            unlink(path)
            throw Self.failure(path, systemErrorText(errno))
        }
    }

    func close() {
        unlink(path)
        Glibc.close(descriptor)
    }

    func serve(_ matcher: RedirectMatcher) async throws(AccountError) {
        let failure: Int32 = try await onListeningThread { interrupt in run(matcher, interrupt) }
        guard failure == 0 else { throw Self.failure(path, systemErrorText(failure)) }
    }

    /// Accepts one connection after the other. Each is short, and comes from the user's own processes.
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
        AccountError(.cannotListen, message: "the browser's answer cannot be received at \(path): \(words)")
    }
}

/// Sends the address that the desktop started the handler with to the waiting sign-in.
public enum CallbackHandOver {
    /// The decision of the waiting sign-in about the address.
    public enum Outcome: Sendable, Equatable {
        /// The address is the expected answer. The handler can end.
        case taken
        /// A sign-in waits, but this is not its answer.
        case refused
    }

    private static let limit = timeval(tv_sec: 5, tv_usec: 0)

    /// Sends the address to the waiting sign-in.
    /// - Parameter folder: the folder of ``CustomSchemeUserAgent``.
    /// - Throws: `noAnswer` if no sign-in waits for this scheme, `cannotListen` if its socket belongs to another user.
    public static func deliver(_ url: Secret, folder: String) throws(AccountError) -> Outcome {
        let text = url.revealString()
        guard let scheme = CallbackFolder.scheme(of: text), !text.utf8.contains(0x0A),
            text.utf8.count < CallbackSocket.maximumBytes
        else {
            throw AccountError(
                .invalidConfiguration, message: "the address has no custom scheme, such as com.example.app:/callback")
        }
        let path = CallbackFolder.socket(folder: folder, scheme: scheme)
        guard let address = UnixAddress(path) else {
            throw AccountError(.cannotListen, message: "\(path) is too long for a socket")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw AccountError(.cannotListen, message: "a socket cannot be created: \(systemErrorText(errno))")
        }
        defer { close(descriptor) }
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            var limit = limit
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard address.call({ connect($0, $1, $2) }, descriptor) == 0 else {
            throw AccountError(.noAnswer, message: "no sign-in waits for this address", remedies: [.signIn])
        }
        guard PeerCredentials(of: descriptor)?.userID == geteuid() else {
            throw AccountError(
                .cannotListen, message: "\(path) belongs to another user, so the browser's answer was not passed on")
        }
        var rest = Array(text.utf8)[...] + [0x0A]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw AccountError(.noAnswer, message: "the sign-in that waited for this address has ended")
            }
            rest = rest.dropFirst(count)
        }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 && buffer[..<count].starts(with: "taken".utf8) ? .taken : .refused
    }
}

/// The folder of the sockets, below `XDG_RUNTIME_DIR`.
package enum CallbackFolder {
    fileprivate static func socket(folder: String, scheme: String) -> String { "\(folder)/callback-\(scheme).sock" }

    /// Returns the scheme in lower case, safe as part of a file name; nil for `http`, `https` and others that no application may use.
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

    /// Creates the folder with mode 0700. An existing folder must belong to the user and already have that mode.
    fileprivate static func make(_ folder: String) throws(AccountError) {
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw AccountError(.cannotListen, message: "\(folder) cannot be created: \(systemErrorText(errno))")
        }
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0
        else {
            throw AccountError(
                .cannotListen,
                message: "\(folder) is not a private folder of this user (mode 0700); remove it and try again")
        }
    }
}
