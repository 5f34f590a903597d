// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO

/// Decides which requests the loopback listener answers, and with which page.
struct CallbackRules {
    var path: [UInt8]
    var hosts: Set<String>
    var matcher: RedirectMatcher

    /// Returns the page for a request, and whether the request had the answer.
    fileprivate func page(for request: CallbackRequest) -> (CallbackPage, isAnswer: Bool) {
        guard hosts.contains(request.host) else { return (.refusal(421), false) }
        guard request.path == path else { return (.notFound, false) }
        let answer: [UInt8]
        switch request.method {
        case "GET" where matcher.expectsFragment && request.query.isEmpty && matcher.answer == nil:
            return (.fragmentRelay, false)
        case "GET": answer = request.query
        // This is the fragment, sent by the script of our own page. A page of another site would have another Origin and is refused.
        case "POST" where matcher.expectsFragment && request.query.isEmpty:
            guard request.origin.map({ hosts.contains($0) }) != false else { return (.refusal(403), false) }
            answer = request.body
        // A link checker's HEAD must not use up the only answer.
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

/// One browser connection: reads a request, writes a page, and gives the browser a moment to read it.
struct CallbackConnection {
    private enum Phase { case reading(CallbackRequestParser), writing(ArraySlice<UInt8>), draining, over }

    let descriptor: Int32
    private var phase = Phase.reading(CallbackRequestParser())
    /// The time limit by the monotonic clock, in milliseconds.
    private(set) var deadline: Int64
    private(set) var carriedAnswer = false

    private static let readingLimit: Int64 = 10_000
    private static let writingLimit: Int64 = 5_000
    /// How long the browser may take to close its end. If this side closed first with unread bytes, the connection would be reset and the
    /// page lost.
    private static let drainingLimit: Int64 = 1_000

    init(descriptor: Int32, now: Int64) {
        self.descriptor = descriptor
        deadline = now + Self.readingLimit
    }

    var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether a page is being sent.
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

    /// Ends the connection after its time limit.
    mutating func expire() { phase = .over }

    func close() { Glibc.close(descriptor) }

    /// Does everything that is possible without waiting.
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

    /// Returns the bytes that can be read now; empty at the end or after an error, nil if there are none yet.
    private func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { return Array(buffer[..<count]) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? nil : []
    }
}

/// Reads the one request of a browser on a connection to the loopback listener: a GET without a body, or the POST of the fragment page.
/// Both have a bounded length.
///
/// The simulators have parsers of their own. This one reads a single request and refuses everything that a browser does not send. The cloud
/// simulator's also reads chunks and pipelined requests, and the firmware simulator's has the limits and errors of ESP-IDF's server.
struct CallbackRequestParser {
    enum Step: Equatable {
        case needsMore
        case request(CallbackRequest)
        /// The request is refused with this status.
        case refused(status: Int)
    }

    /// The maximum size of the head in bytes. Even a very long code with many cookies of other local servers fits.
    static let maximumBytes = 32 << 10

    private var bytes: [UInt8] = []
    /// The number of bytes that were searched for the end of the head.
    private var searched = 0

    mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

    mutating func next() -> Step {
        let end: [UInt8] = [13, 10, 13, 10]
        var start = max(0, searched - 3)
        while start + 4 <= bytes.count {
            if bytes[start] == 13, bytes[start..<start + 4].elementsEqual(end) {
                return start > Self.maximumBytes
                    ? .refused(status: 431) : whole(Self.parse(bytes[..<start]), from: start + 4)
            }
            start += 1
        }
        searched = bytes.count
        return bytes.count > Self.maximumBytes ? .refused(status: 431) : .needsMore
    }

    /// The maximum size in bytes of a body, which contains a fragment. It is as long as an address may be.
    private static let maximumBodyBytes = 32 << 10

    /// Returns the request with its body when the body is complete.
    private func whole(_ step: Step, from start: Int) -> Step {
        guard case .request(var request) = step, request.bodyLength > 0 else { return step }
        guard request.method == "POST", request.bodyLength <= Self.maximumBodyBytes else {
            return .refused(status: 413)
        }
        guard bytes.count - start >= request.bodyLength else { return .needsMore }
        request.body = Array(bytes[start..<start + request.bodyLength])
        return .request(request)
    }

    private static func parse(_ head: ArraySlice<UInt8>) -> Step {
        // Control characters are not allowed in a head, and parsers read them differently.
        var lines: [ArraySlice<UInt8>] = []
        var rest = head
        while true {
            guard let end = rest.firstIndex(of: 13) else {
                lines.append(rest)
                break
            }
            guard rest.index(after: end) < rest.endIndex, rest[end + 1] == 10 else { return .refused(status: 400) }
            lines.append(rest[..<end])
            rest = rest[(end + 2)...]
        }
        guard lines.allSatisfy({ $0.allSatisfy { $0 == 9 || $0 >= 0x20 && $0 != 0x7F } }) else {
            return .refused(status: 400)
        }
        let words = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8),
            words[1].first == UInt8(ascii: "/"), !words[1].contains(UInt8(ascii: "#"))
        else { return .refused(status: 400) }

        var hosts: [String] = []
        var origin: String?
        var lengths: [Int] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { return .refused(status: 400) }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            var value = line[(colon + 1)...]
            while let first = value.first, first == 0x20 || first == 9 { value = value.dropFirst() }
            while let last = value.last, last == 0x20 || last == 9 { value = value.dropLast() }
            switch name {
            case "host": hosts.append(String(decoding: value, as: UTF8.self).lowercased())
            case "origin":
                guard origin == nil else { return .refused(status: 400) }
                origin = String(decoding: value, as: UTF8.self).lowercased()
            case "content-length":
                guard (1...9).contains(value.count), value.allSatisfy({ (0x30...0x39).contains($0) }), lengths.isEmpty
                else { return .refused(status: 413) }
                lengths.append(value.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            case "transfer-encoding": return .refused(status: 413)
            default: break
            }
        }
        guard hosts.count == 1 else { return .refused(status: 400) }
        let query = words[1].firstIndex(of: UInt8(ascii: "?")) ?? words[1].endIndex
        return .request(
            CallbackRequest(
                method: String(decoding: words[0], as: UTF8.self), path: Array(words[1][..<query]),
                query: Array(words[1][query...].dropFirst()), host: hosts[0],
                origin: origin.map { $0.hasPrefix("http://") ? String($0.dropFirst(7)) : $0 },
                bodyLength: lengths.first ?? 0))
    }
}

/// A request to the loopback listener.
struct CallbackRequest: Equatable {
    var method: String
    var path: [UInt8]
    /// The query without the `?`. It may contain a code: never log it.
    var query: [UInt8]
    /// The host in lower case.
    var host: String
    /// The `Origin` header without `http://`; nil if there is none.
    var origin: String?
    var bodyLength = 0
    var body: [UInt8] = []
}

/// The pages that the browser shows after the redirect: plain HTML that loads nothing else and is not cached.
struct CallbackPage: Equatable {
    private var status: Int
    private var reason: String
    private var title: String
    private var text: String
    private var script = ""

    private init(_ status: Int, _ reason: String, _ title: String, _ text: String) {
        self.status = status
        self.reason = reason
        self.title = title
        self.text = text
    }

    fileprivate static let received = CallbackPage(
        200, "OK", "Almost done", "The sign-in page has answered. Close this page and return to the terminal.")
    fileprivate static let notSignedIn = CallbackPage(
        200, "OK", "Not signed in", "The sign-in was refused or cancelled. Close this page and return to the terminal.")
    fileprivate static let stray = CallbackPage(
        400, "Bad Request", "Not the expected answer",
        "This answer is not for the current sign-in. The sign-in is still waiting. Return to the page where you began."
    )
    /// Returns a page that says what is wrong. The user may be on an old page, or another person's page may have led here.
    fileprivate static func foreign(_ answer: ForeignAnswer) -> CallbackPage {
        CallbackPage(
            400, "Bad Request", "Not accepted",
            "This answer belongs to another sign-in (\(answer.flaw.message)), and was not used. The current sign-in is still waiting. "
                + "Finish the sign-in on the page that the program opened, or begin again in the terminal.")
    }
    fileprivate static let late = CallbackPage(
        409, "Conflict", "Already answered",
        "This sign-in already has its answer. Close this page and return to the terminal.")
    fileprivate static let notFound = CallbackPage(
        404, "Not Found", "Nothing here", "There is nothing at this address.")

    /// Sends the fragment to the listener by a script, because browsers do not send fragments. The script removes the fragment from the
    /// address bar and the history. If scripts are off, the page says what to do instead.
    fileprivate static let fragmentRelay: CallbackPage = {
        var page = CallbackPage(
            200, "OK", "One moment",
            "The answer is being passed on. If nothing happens here, copy this page's whole address and paste it into the terminal."
        )
        page.script = fragmentScript
        return page
    }()

    /// The page's policy contains the hash of this script. Change both together (a test compares them).
    static let fragmentScript =
        "(function(){var a=location.hash.slice(1);if(!a)return;history.replaceState(null,'',location.pathname);"
        + "fetch(location.pathname,{method:'POST',headers:{'Content-Type':'application/x-www-form-urlencoded'},body:a})"
        + ".then(function(r){return r.text()}).then(function(t){var d=new DOMParser().parseFromString(t,'text/html');"
        + "document.title=d.title;document.body.replaceWith(d.body)})})()"
    static let fragmentScriptHash = "dZWHLYFBqFDXp3oUcImIfzjdqJ453+0pO6izHtZY+A0="

    /// Returns the page for a request that is refused before its answer is read.
    fileprivate static func refusal(_ status: Int) -> CallbackPage {
        switch status {
        case 403:
            CallbackPage(
                403, "Forbidden", "Not served",
                "This address accepts answers only from the page that this program serves.")
        case 405: CallbackPage(405, "Method Not Allowed", "Not served", "Only GET is supported here.")
        case 413:
            CallbackPage(413, "Content Too Large", "Not served", "The request has a body, or its body is too long.")
        case 421: CallbackPage(421, "Misdirected Request", "Not served", "The request is for another server.")
        case 431: CallbackPage(431, "Request Header Fields Too Large", "Not served", "The request is too long.")
        default: CallbackPage(400, "Bad Request", "Not served", "The request is not readable.")
        }
    }

    private var policyForScript: String {
        script.isEmpty ? "" : "; script-src 'sha256-\(Self.fragmentScriptHash)'; connect-src 'self'"
    }

    fileprivate var response: [UInt8] {
        let body = """
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>\(title)</title>\
            <meta name="viewport" content="width=device-width"></head>\
            <body><h1>\(title)</h1><p>\(text)</p>\(script.isEmpty ? "" : "<script>\(script)</script>")</body></html>

            """
        let head = [
            "HTTP/1.1 \(status) \(reason)", "Content-Type: text/html; charset=utf-8",
            "Content-Length: \(body.utf8.count)", "Connection: close", "Cache-Control: no-store",
            // The address contains the code, so it must not be sent as a referrer.
            "Referrer-Policy: no-referrer",
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\(policyForScript)",
            "X-Content-Type-Options: nosniff",
        ]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
