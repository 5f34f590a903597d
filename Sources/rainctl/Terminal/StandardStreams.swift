// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Synchronization

/// Standard output and standard error: whole lines, each in as few writes as the system allows.
enum StandardStreams {
    static func out(_ text: String) { out(Array(text.utf8)) }
    static func err(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// Bytes as they are.
    static func out(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        guard let failure = outClosed.withLock({ $0 }) ? EBADF : write(bytes, to: STDOUT_FILENO) else { return }
        outFailed.withLock { $0 = $0 ?? failure }
    }

    /// The caller has closed standard output: what is printed there is lost, whatever has its number now.
    static func outIsClosed() { outClosed.withLock { $0 = true } }
    private static let outClosed = Mutex(false)

    /// The first error (`errno`) of writing to standard output: what is missing there was not printed.
    static var outFailure: Int32? { outFailed.withLock { $0 } }
    private static let outFailed = Mutex<Int32?>(nil)

    /// Erases the line of the terminal in which the cursor stands.
    static let eraseLine = "\r\u{1B}[2K"

    static var errIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var outIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var inIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// - Returns: the error, where not everything could be written.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                let failure = errno
                switch failure {
                case EINTR: continue
                // The terminal or pipe is one that somebody else has made non-blocking.
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
    /// Opens what is closed on `/dev/null`. To be called before anything else is opened: the next pipe or socket would get the number, and
    /// what is printed would go there.
    static func open() {
        for descriptor in STDIN_FILENO...STDERR_FILENO {
            guard fcntl(descriptor, F_GETFD) < 0, errno == EBADF else { continue }
            if descriptor == STDOUT_FILENO { StandardStreams.outIsClosed() }
            // The lowest number that is free is this one, as those before it are open by now.
            _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }
}
