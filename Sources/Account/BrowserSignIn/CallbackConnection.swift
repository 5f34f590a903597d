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

/// Reads the one request that a browser makes on a connection to the loopback listener: a GET without a body, or the relay page's POST;
/// both of bounded length.
struct CallbackRequestParser {
    enum Step: Equatable {
        case needsMore
        case request(CallbackRequest)
        /// Not a request that is served; the status says why.
        case refused(status: Int)
    }

    /// The largest head. A redirect with an unusually long code, and many cookies of other local servers, is still below it.
    static let maximumBytes = 32 << 10

    private var bytes: [UInt8] = []
    /// How far the end of the head has been looked for.
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

    /// The largest body, which holds a fragment: as long as an address may be.
    static let maximumBodyBytes = 32 << 10

    /// With its body, once that has come.
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
        // Control characters are not allowed in a head, and parsers differ in how they read them.
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
    /// Without the `?`. It may hold a code: never to be logged.
    var query: [UInt8]
    /// In lower case.
    var host: String
    /// The `Origin` header without `http://`; nil if there is none.
    var origin: String?
    var bodyLength = 0
    var body: [UInt8] = []
}

/// The pages that the browser shows after the redirect: plain HTML that loads nothing else and is not cached.
struct CallbackPage: Equatable {
    var status: Int
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

    static let received = CallbackPage(
        200, "OK", "Almost done", "The sign-in page has answered. Close this page and go back to the terminal.")
    static let notSignedIn = CallbackPage(
        200, "OK", "Not signed in", "The sign-in was refused or given up. Close this page and go back to the terminal.")
    static let stray = CallbackPage(
        400, "Bad Request", "Not the awaited answer",
        "This is no answer to the sign-in that is under way, which goes on waiting. Go back to the page where you began."
    )
    /// Says what is wrong, as the person may be on an old page, or led here by somebody else's.
    static func foreign(_ answer: ForeignAnswer) -> CallbackPage {
        CallbackPage(
            400, "Bad Request", "Not accepted",
            "This answer belongs to another sign-in (\(answer.flaw.message)). It was not used, and the sign-in that is under way goes on "
                + "waiting: finish it in the page that it opened, or begin again in the terminal.")
    }
    static let late = CallbackPage(
        409, "Conflict", "Answered already",
        "This sign-in has had its answer. Close this page and go back to the terminal.")
    static let notFound = CallbackPage(404, "Not Found", "Nothing here", "There is nothing at this address.")

    /// Sends the fragment to the listener by script, as no browser sends it itself, and removes it from the address bar and the history.
    /// Where scripts are off, the page says what to do instead.
    static let fragmentRelay: CallbackPage = {
        var page = CallbackPage(
            200, "OK", "One moment",
            "The answer is being handed on. If nothing happens here, copy this page's whole address and paste it into the terminal."
        )
        page.script = fragmentScript
        return page
    }()

    /// Its hash stands in the page's policy: change both together (a test compares them).
    static let fragmentScript =
        "(function(){var a=location.hash.slice(1);if(!a)return;history.replaceState(null,'',location.pathname);"
        + "fetch(location.pathname,{method:'POST',headers:{'Content-Type':'application/x-www-form-urlencoded'},body:a})"
        + ".then(function(r){return r.text()}).then(function(t){var d=new DOMParser().parseFromString(t,'text/html');"
        + "document.title=d.title;document.body.replaceWith(d.body)})})()"
    static let fragmentScriptHash = "dZWHLYFBqFDXp3oUcImIfzjdqJ453+0pO6izHtZY+A0="

    /// The page for a request that is refused before its answer is read.
    static func refusal(_ status: Int) -> CallbackPage {
        switch status {
        case 403: CallbackPage(403, "Forbidden", "Not served", "This page takes answers from its own pages only.")
        case 405: CallbackPage(405, "Method Not Allowed", "Not served", "Only GET is served here.")
        case 413: CallbackPage(413, "Content Too Large", "Not served", "A request has no body, or too long a one.")
        case 421: CallbackPage(421, "Misdirected Request", "Not served", "This server has another name.")
        case 431: CallbackPage(431, "Request Header Fields Too Large", "Not served", "The request is too long.")
        default: CallbackPage(400, "Bad Request", "Not served", "The request is not readable.")
        }
    }

    private var policyForScript: String {
        script.isEmpty ? "" : "; script-src 'sha256-\(Self.fragmentScriptHash)'; connect-src 'self'"
    }

    var response: [UInt8] {
        let body = """
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>\(title)</title>\
            <meta name="viewport" content="width=device-width"></head>\
            <body><h1>\(title)</h1><p>\(text)</p>\(script.isEmpty ? "" : "<script>\(script)</script>")</body></html>

            """
        let head = [
            "HTTP/1.1 \(status) \(reason)", "Content-Type: text/html; charset=utf-8",
            "Content-Length: \(body.utf8.count)", "Connection: close", "Cache-Control: no-store",
            // The address has the code in it, so it must not be sent on as a referrer.
            "Referrer-Policy: no-referrer",
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\(policyForScript)",
            "X-Content-Type-Options: nosniff",
        ]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
