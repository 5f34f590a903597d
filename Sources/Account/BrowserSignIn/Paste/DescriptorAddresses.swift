// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO
import Synchronization

/// Lines from a file descriptor, a terminal or a pipe. A terminal does not echo them, as the address has the code in it.
public final class DescriptorAddresses: PastedAddresses {
    private let descriptor: Int32
    private let say: @Sendable (String) -> Void
    private let pending = Mutex<[UInt8]>([])
    /// The terminal without echo, from the first line to the end: an address pasted between two questions is not shown either.
    private let silence = Mutex<TerminalSilence?>(nil)

    /// The longest address that is taken, in bytes. A terminal in its usual mode would cut it at 4,095.
    public static let maximumBytes = 64 << 10

    /// - Parameter say: gets a sentence for the person, without a line end.
    public init(descriptor: Int32, say: @escaping @Sendable (String) -> Void) {
        self.descriptor = descriptor
        self.say = say
    }

    public func next() async throws(AccountError) -> Secret? {
        enum Line { case secret(Secret), end, tooLong }
        let line: Line = try await onListeningThread { [self] interrupt in
            let isTerminal = silence.withLock { silence in
                if silence == nil { silence = TerminalSilence(descriptor) }
                return silence != nil
            }
            while true {
                if let line = takeLine() { return .secret(line) }
                if pending.withLock({ $0.count }) > Self.maximumBytes { return .tooLong }
                guard let more = wait(interrupt) else { return .end }
                guard !more.isEmpty else { return takeRest().map { .secret($0) } ?? .end }
                pending.withLock { apply(more, to: &$0, isTerminal: isTerminal) }
            }
        }
        switch line {
        case .secret(let line): return line
        case .end: return nil
        case .tooLong:
            throw AccountError(.noAnswer, message: "what was pasted is longer than any address of a sign-in page")
        }
    }

    public func refuse(_ reason: String) async { say(reason) }

    public func finish() async {
        silence.withLock { silence in
            silence?.end()
            silence = nil
        }
    }

    /// The bytes that were read; empty at the end of input; nil when interrupted.
    private func wait(_ interrupt: Int32) -> [UInt8]? {
        while true {
            var watched: [PollEntry] = [.readable(interrupt), .readable(descriptor)]
            guard pollDescriptors(&watched) == .ready else { return [] }
            if watched[0].isReady { return nil }
            var buffer = [UInt8](repeating: 0, count: 4096)
            defer { for index in buffer.indices { buffer[index] = 0 } }
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 { return Array(buffer[..<count]) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            return []
        }
    }

    /// Line editing, which the terminal does not do in this mode: erase, erase all, end of input.
    private func apply(_ bytes: [UInt8], to line: inout [UInt8], isTerminal: Bool) {
        for byte in bytes {
            switch byte {
            case 0x0D where isTerminal: line.append(0x0A)
            case 0x7F where isTerminal, 0x08 where isTerminal: if line.last != 0x0A { _ = line.popLast() }
            case 0x15 where isTerminal: while let last = line.last, last != 0x0A { line.removeLast() }
            default: line.append(byte)
            }
        }
    }

    private func takeLine() -> Secret? {
        pending.withLock { bytes in
            guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
            let line = Secret(bytes[..<end])
            bytes.removeSubrange(...end)
            return line
        }
    }

    private func takeRest() -> Secret? {
        pending.withLock { bytes in
            defer { bytes = [] }
            return bytes.isEmpty ? nil : Secret(bytes)
        }
    }
}

/// Sets a terminal not to echo and not to cut long lines, until ``end()``. Ctrl-C still works.
private struct TerminalSilence {
    private let descriptor: Int32
    private var before: termios

    /// nil if the descriptor is no terminal.
    init?(_ descriptor: Int32) {
        self.descriptor = descriptor
        before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON)
        withUnsafeMutableBytes(of: &silent.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        tcsetattr(descriptor, TCSANOW, &silent)
    }

    func end() {
        var before = before
        tcsetattr(descriptor, TCSANOW, &before)
    }
}
