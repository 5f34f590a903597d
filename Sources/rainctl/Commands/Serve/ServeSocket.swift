// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainCore
import RainIO
import RainKit
import RainPrivateFiles

/// The Unix socket of `rainctl serve --socket`, in a folder that only this user can open. Only processes of this user are answered.
///
/// A lock on a file beside it decides between two servers, so the socket of a killed server is replaced.
final class ServeSocket: Sendable {
    let path: String
    private let descriptor: Int32
    private let lock: FileLock

    private let clients = RunLimit(32)

    /// - Throws: `cannot_listen`.
    init(path given: String) throws(CommandFailure) {
        guard let path = absolutePath(given), let slash = path.lastIndex(of: "/") else {
            throw Self.failure(given, "the path is not absolute, and the working folder is gone")
        }
        let (folder, name) = (String(path[..<slash]), String(path[path.index(after: slash)...]))
        guard !name.isEmpty, let address = UnixAddress(path) else {
            throw Self.failure(path, "the path must end with a file name, and must have at most 107 bytes")
        }
        self.path = path
        lock = try Self.lock(folder.isEmpty ? "/" : folder, name, path)
        descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure(path, systemErrorText(errno)) }
        do throws(CommandFailure) {
            try Self.listen(descriptor, at: address, path)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    deinit { Glibc.close(descriptor) }

    private static func lock(_ folder: String, _ name: String, _ path: String) throws(CommandFailure) -> FileLock {
        try checkParent(of: folder, path)
        let lock: FileLock
        let isFree: Bool
        do throws(PrivateFileError) {
            guard let open = try PrivateFolder.open(folder, create: true) else {
                throw PrivateFileError.missing(folder)
            }
            lock = try open.lock(".\(name).lock")
            isFree = try lock.take()
        } catch {
            throw failure(path, "\(error)")
        }
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & 0o077 == 0 else {
            throw failure(
                path, "other users can open the folder; use a folder with mode 0700, such as $XDG_RUNTIME_DIR/rainkit")
        }
        guard isFree else { throw failure(path, "another rainctl serve listens there") }
        return lock
    }

    /// Checks that only the socket's own folder has to be created. A missing folder above it is probably a mistake, such as `/run/user/4711`
    /// of a user who is not logged in, and so is one in `/`.
    private static func checkParent(of folder: String, _ path: String) throws(CommandFailure) {
        guard folder.hasPrefix("/"), access(folder, F_OK) != 0, errno == ENOENT else { return }
        let parent = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        let missing = parent.isEmpty ? folder : parent
        guard access(missing, F_OK) != 0, errno == ENOENT else { return }
        throw failure(path, "the folder \(missing.onOneLine) does not exist; create it, or use another path")
    }

    private static func listen(_ descriptor: Int32, at address: UnixAddress, _ path: String) throws(CommandFailure) {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFSOCK else { throw failure(path, "a file with that name exists") }
            unlink(path)
        }
        // The file gets its mode from the socket, so it is private from the beginning.
        fchmod(descriptor, 0o600)
        guard address.call({ bind($0, $1, $2) }, descriptor) == 0, chmod(path, 0o600) == 0,
            Glibc.listen(descriptor, SOMAXCONN) == 0
        else { throw failure(path, systemErrorText(errno)) }
    }

    private static func failure(_ path: String, _ why: String) -> CommandFailure {
        CommandFailure(
            .unavailable, reason: "cannot_listen", message: "The server cannot listen at \(path.onOneLine): \(why).")
    }

    /// Answers clients until the task is cancelled. Then it waits until `answer` has ended for each, and removes the socket.
    ///
    /// - Parameter answer: gets the descriptor of a client, which is closed afterwards.
    func accept(_ answer: @escaping @Sendable (Int32) async -> Void) async throws {
        defer { unlink(path) }
        let (accepted, continuation) = AsyncStream<Int32>.makeStream()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { [self] in
                defer { continuation.finish() }
                do throws(ThreadError) {
                    try await onInterruptibleThread { interrupt in
                        self.run(interrupt) { client in
                            guard self.clients.enter() else { return _ = Glibc.close(client) }
                            continuation.yield(client)
                        }
                    }
                } catch {
                    throw CommandFailure(
                        .temporary, reason: "no_threads", message: "The system could not start a thread.")
                }
            }
            for await client in accepted {
                group.addTask { [self] in
                    await answer(client)
                    Glibc.close(client)
                    clients.leave()
                }
            }
        }
    }

    private func run(_ interrupt: WakePipe, _ take: @Sendable (Int32) -> Void) {
        while true {
            var watched: [PollEntry] = [.readable(interrupt.reader), .readable(descriptor)]
            if case .failed = pollDescriptors(&watched) { return }
            if watched[0].isReady { return }
            let client = accept4(
                descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
            guard client >= 0 else {
                // Without free descriptors the client stays in the queue.
                if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) {
                    _ = pollDescriptor(interrupt.reader, for: .readable, until: .after(milliseconds: 100))
                }
                continue
            }
            if PeerCredentials(of: client)?.userID == geteuid() { take(client) } else { Glibc.close(client) }
        }
    }
}
