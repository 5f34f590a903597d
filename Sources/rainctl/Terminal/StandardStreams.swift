// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Synchronization

/// Standard output and standard error: whole lines, each in as few writes as the system allows.
enum StandardStreams {
    static func out(_ text: String) { out(Array(text.utf8)) }
    static func err(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// Writes bytes unchanged.
    static func out(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        guard let failure = outClosed.withLock({ $0 }) ? EBADF : write(bytes, to: STDOUT_FILENO) else { return }
        outFailed.withLock { $0 = $0 ?? failure }
    }

    /// Records that the caller has closed standard output. Output is then lost, whatever file has the number of that descriptor now.
    fileprivate static func outIsClosed() { outClosed.withLock { $0 = true } }
    private static let outClosed = Mutex(false)

    /// The first error (`errno`) of writing to standard output. Output after it was not printed.
    static var outFailure: Int32? { outFailed.withLock { $0 } }
    private static let outFailed = Mutex<Int32?>(nil)

    /// Erases the terminal's line with the cursor.
    static let eraseLine = "\r\u{1B}[2K"

    // A request to `rainctl serve` has no terminal, even if the server has one.
    static var errIsTerminal: Bool { isTerminal(STDERR_FILENO) }
    static var outIsTerminal: Bool { isTerminal(STDOUT_FILENO) }
    static var inIsTerminal: Bool { isTerminal(STDIN_FILENO) }

    private static func isTerminal(_ descriptor: Int32) -> Bool {
        Invocation.current.request == nil && isatty(descriptor) == 1
    }

    /// - Returns: the error, if not everything could be written.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                let failure = errno
                switch failure {
                case EINTR: continue
                // Another program has made the terminal or pipe non-blocking.
                case EAGAIN: _ = pollDescriptor(descriptor, for: .writable)
                default: return failure
                }
                continue
            }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}

/// Descriptors 0 to 2, which a caller may have closed (`>&-`, a service manager).
enum StandardDescriptors {
    /// Opens closed descriptors on `/dev/null`. Call it before anything else is opened: otherwise the next pipe or socket would get the
    /// number, and output would go there.
    static func open() {
        for descriptor in STDIN_FILENO...STDERR_FILENO {
            guard fcntl(descriptor, F_GETFD) < 0, errno == EBADF else { continue }
            if descriptor == STDOUT_FILENO { StandardStreams.outIsClosed() }
            // The lowest free number is this one, because those before it are open by now.
            _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }
}
