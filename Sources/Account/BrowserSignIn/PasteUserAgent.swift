// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO
import Synchronization

/// A source of pasted addresses: a person, or a program instead, gives the address at which the browser arrived.
public protocol PastedAddresses: Sendable {
    /// Returns the next line; nil if there are no more. Cancelling the task ends the wait.
    func next() async throws(AccountError) -> Secret?

    /// Reports why the last line was not the answer.
    func refuse(_ reason: String) async

    /// Called when no more lines are needed. Restores the terminal's settings.
    func finish() async
}

extension PastedAddresses {
    public func finish() async {}
}

/// Lets the user paste the address at which the browser arrived, if no browser can reach this machine: over SSH, in a container.
public struct PasteUserAgent: AuthorizationUserAgent {
    private let target: String
    private let opener: SignInPageOpener

    /// - Parameter redirectURI: a registered URI. No server needs to answer there.
    public init(
        redirectURI: String, pasted: any PastedAddresses, within limit: Duration = .seconds(300),
        by clock: any Clock<Duration> = ContinuousClock(), show: @escaping ShowSignInPage
    ) {
        target = redirectURI
        opener = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        try await opener.authorize(attempt, at: RedirectTarget(redirectURI: try redirectURI(target)), hearing: nil)
    }
}

struct PasteSource: RedirectSource {
    let addresses: any PastedAddresses

    /// The maximum number of pasted lines that are not the answer.
    private static let maximumTries = 50

    func serve(_ matcher: RedirectMatcher) async throws(AccountError) {
        do throws(AccountError) {
            try await read(matcher)
        } catch {
            await addresses.finish()
            throw error
        }
        await addresses.finish()
    }

    private func read(_ matcher: RedirectMatcher) async throws(AccountError) {
        var refusal: String?
        for _ in 0..<Self.maximumTries {
            guard let line = try await addresses.next() else {
                // The opener reports an answer of another sign-in.
                guard !Task.isCancelled else { return }
                let cause = refusal.map { "the sign-in page gave no answer: \($0)" }
                throw AccountError(
                    .noAnswer, message: cause ?? "the input ended before an address of the sign-in page was pasted")
            }
            var text = line.revealString()[...]
            // Spaces, quotes and angle brackets are often copied with an address.
            while let first = text.first, first.isWhitespace || "\"'<".contains(first) { text.removeFirst() }
            while let last = text.last, last.isWhitespace || "\"'>".contains(last) { text.removeLast() }
            if text.isEmpty { continue }
            switch matcher.consider(url: String(text)) {
            case .answer, .late: return
            case .stray(let error):
                let words = Self.words(for: error, isAddress: text.firstRange(of: ":/") != nil)
                refusal = words
                await addresses.refuse(words)
            case .foreign(let answer):
                refusal = nil
                await addresses.refuse(Self.words(for: answer.flaw, isAddress: true))
            }
        }
        throw AccountError(
            .noAnswer,
            message: "none of the pasted addresses was the sign-in page's answer\(refusal.map { ": \($0)" } ?? "")")
    }

    private static func words(for error: OAuth2FormatError, isAddress: Bool) -> String {
        switch error.code {
        case _ where !isAddress: "this is not an address; copy the whole address that the browser shows at the end"
        case .mismatch:
            "this address is not the answer to this sign-in. It may belong to another sign-in, or be another page (\(error.message))"
        case .missing: "this address has no answer yet: finish at the sign-in page, then copy the address"
        default: "this address cannot be read (\(error.message)); copy all of it"
        }
    }
}

/// Reads lines from a file descriptor: a terminal or a pipe. A terminal does not echo them, because the address contains the code.
public final class DescriptorAddresses: PastedAddresses {
    private let descriptor: Int32
    private let say: @Sendable (String) -> Void
    private let pending = Mutex<[UInt8]>([])
    /// The terminal without echo, from the first line to the end. An address that is pasted between two questions is therefore not shown
    /// either.
    private let silence = Mutex<TerminalSilence?>(nil)

    /// The maximum length of an address in bytes. A terminal in its usual mode would cut it at 4,095.
    public static let maximumBytes = 64 << 10

    /// - Parameter say: gets a sentence for the user, without a line end.
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
            throw AccountError(.noAnswer, message: "the pasted text is longer than any address of a sign-in page")
        }
    }

    public func refuse(_ reason: String) async { say(reason) }

    public func finish() async {
        silence.withLock { silence in
            silence?.end()
            silence = nil
        }
    }

    /// Returns the bytes that were read; empty at the end of input, nil after an interruption.
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

    /// Edits the line, because the terminal does not do it in this mode: erase, erase all, end of input.
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

    /// Returns nil if the descriptor is not a terminal.
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
