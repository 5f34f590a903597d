// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO

/// Which requests the loopback listener answers, and with which page.
struct CallbackRules {
    var path: [UInt8]
    var hosts: Set<String>
    var matcher: RedirectMatcher

    /// The page for a request, and whether it brought the answer.
    func page(for request: CallbackRequest) -> (CallbackPage, isAnswer: Bool) {
        guard hosts.contains(request.host) else { return (.refusal(421), false) }
        guard request.path == path else { return (.notFound, false) }
        let answer: [UInt8]
        switch request.method {
        case "GET" where matcher.expectsFragment && request.query.isEmpty && matcher.answer == nil:
            return (.fragmentRelay, false)
        case "GET": answer = request.query
        // The fragment, sent by the script of our own page. A page of another site would have another Origin and is refused.
        case "POST" where matcher.expectsFragment && request.query.isEmpty:
            guard request.origin.map({ hosts.contains($0) }) != false else { return (.refusal(403), false) }
            answer = request.body
        // A link checker's HEAD must not use up the one answer.
        default: return (.refusal(405), false)
        }
        switch matcher.consider(query: answer) {
        case .answer(let response):
            if case .refused = response.outcome { return (.notSignedIn, true) }
            return (.received, true)
        case .stray: return (.stray, false)
        case .foreign(let answer):
            matcher.tell(answer)
            return (.foreign(answer), false)
        case .late: return (.late, false)
        }
    }
}

/// One browser connection: a request is read, a page is written, and the browser is given a moment to take it.
struct CallbackConnection {
    private enum Phase { case reading(CallbackRequestParser), writing(ArraySlice<UInt8>), draining, over }

    let descriptor: Int32
    private var phase = Phase.reading(CallbackRequestParser())
    /// By the monotonic clock, in milliseconds.
    private(set) var deadline: Int64
    private(set) var carriedAnswer = false

    private static let readingLimit: Int64 = 10_000
    private static let writingLimit: Int64 = 5_000
    /// How long the browser may take to close its end. Closing ours first, with unread bytes, would reset the connection and lose the page.
    private static let drainingLimit: Int64 = 1_000

    init(descriptor: Int32, now: Int64) {
        self.descriptor = descriptor
        deadline = now + Self.readingLimit
    }

    var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether a page is on its way.
    var isAnswering: Bool {
        switch phase {
        case .writing, .draining: true
        case .reading, .over: false
        }
    }

    var events: PollEvents {
        if case .writing = phase { return .writable }
        return .readable
    }

    /// The time is over.
    mutating func expire() { phase = .over }

    func close() { Glibc.close(descriptor) }

    /// Does what can be done without waiting.
    mutating func advance(_ rules: CallbackRules, at now: Int64) {
        switch phase {
        case .reading(var parser):
            guard let bytes = receive() else { return }
            parser.append(bytes)
            switch bytes.isEmpty ? .refused(status: 0) : parser.next() {
            case .needsMore: phase = .reading(parser)
            case .refused(status: 0): phase = .over
            case .refused(let status): begin(.refusal(status), at: now)
            case .request(let request):
                let (page, isAnswer) = rules.page(for: request)
                carriedAnswer = isAnswer
                begin(page, at: now)
            }
        case .writing(let rest): write(rest, at: now)
        case .draining: if receive()?.isEmpty == true { phase = .over }
        case .over: break
        }
    }

    private mutating func begin(_ page: CallbackPage, at now: Int64) {
        deadline = now + Self.writingLimit
        write(page.response[...], at: now)
    }

    private mutating func write(_ bytes: ArraySlice<UInt8>, at now: Int64) {
        let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count < 0 {
            phase = errno == EAGAIN || errno == EINTR ? .writing(bytes) : .over
        } else if count < bytes.count {
            phase = .writing(bytes.dropFirst(count))
        } else {
            shutdown(descriptor, Int32(SHUT_WR))
            phase = .draining
            deadline = now + Self.drainingLimit
        }
    }

    /// The bytes that can be read now; empty at the end or at an error, nil if there are none yet.
    private func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { return Array(buffer[..<count]) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? nil : []
    }
}
