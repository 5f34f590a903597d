import Glibc

/// Standard output and standard error: whole lines, each in as few writes as the system allows.
enum StandardStreams {
    static func out(_ text: String) { write(text, to: STDOUT_FILENO) }
    static func err(_ text: String) { write(text, to: STDERR_FILENO) }

    static var errIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var inIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                guard errno == EINTR else { return }
                continue
            }
            rest = rest.dropFirst(count)
        }
    }
}
