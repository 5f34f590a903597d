// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Synchronization
import TestSupport

@testable import CloudSimulator

/// A simulated system as a function, without a socket, on a clock that the test sets; and a browser that keeps cookies.
final class TestIdentity: Sendable {
    static let base = "http://127.0.0.1:8080"
    static let form = Request.Field("Content-Type", "application/x-www-form-urlencoded")

    let api: IdentityAPI
    let folder: TemporaryFolder
    private let clock = Clock()

    private final class Clock: Sendable {
        let milliseconds = Mutex<Int64>(1_700_000_000_000)
    }

    var journal: TestSupport.Journal { TestSupport.Journal(path: folder.file("journal")) }

    init(_ system: IdentitySystem) throws {
        folder = try TemporaryFolder()
        let clock = clock
        let read: @Sendable () -> Int64 = { clock.milliseconds.withLock { $0 } }
        let journal = try CloudSimulator.Journal(path: folder.file("journal"), clock: read)
        api = try IdentityAPI(system: system, journal: journal, clock: read)
        api.url = Self.base
    }

    func pass(_ duration: Duration) { clock.milliseconds.withLock { $0 += duration.milliseconds } }

    func send(
        _ method: String, _ target: String, headers: [Request.Field] = [], body: [UInt8] = []
    ) -> Response {
        api.respond(to: Request(method: method, target: target, headers: headers, body: body))
    }

    func get(_ target: String, bearer: String? = nil, headers: [Request.Field] = []) -> Response {
        send("GET", target, headers: headers + (bearer.map { [.init("Authorization", "Bearer \($0)")] } ?? []))
    }

    func post(_ target: String, _ form: KeyValuePairs<String, String?>, headers: [Request.Field] = []) -> Response {
        let fields = form.compactMap { name, value in value.map { Request.Field(name, $0) } }
        return send("POST", target, headers: [Self.form] + headers, body: Array(formEncoded(fields).utf8))
    }

    func json(_ target: String, _ body: JSONValue, headers: [Request.Field] = []) -> Response {
        send("POST", target, headers: [.init("Content-Type", "application/json")] + headers, body: body.serialized())
    }

    func control(_ what: String, _ body: JSONValue) -> Int { json("/_sim/\(what)", body).status }

    static func basic(_ user: String, _ password: String) -> Request.Field {
        .init("Authorization", "Basic \(Base64.text(Array("\(user):\(password)".utf8)))")
    }
}

/// Follows what the pages of a ``TestIdentity`` say, as a browser would: cookies, hidden fields, redirects on the same host.
final class TestBrowser {
    let system: TestIdentity
    private(set) var cookies: [String: String] = [:]

    init(_ system: TestIdentity) { self.system = system }

    func open(_ target: String) -> Response { note(system.get(target, headers: cookieHeader)) }

    /// Fills in the page's form, adding its hidden fields.
    func submit(_ page: Response, at target: String, _ form: [String: String]) -> Response {
        var fields = form
        for (name, value) in page.hiddenFields { fields[name] = value }
        let text = formEncoded(fields.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
        return note(
            system.send("POST", target, headers: [TestIdentity.form] + cookieHeader, body: Array(text.utf8)))
    }

    /// Signs Ada in and allows what is asked for.
    func signIn(
        _ target: String, user: String = "ada@example.com", password: String = "correct-horse"
    ) -> Response {
        var reply = open(target)
        if reply.page.contains("id=\"password\"") {
            reply = submit(reply, at: target, ["username": user, "password": password, "action": "allow"])
        }
        if reply.page.contains("id=\"application\"") { reply = submit(reply, at: target, ["action": "allow"]) }
        return reply
    }

    private var cookieHeader: [Request.Field] {
        cookies.isEmpty ? [] : [.init("Cookie", cookies.map { "\($0)=\($1)" }.joined(separator: "; "))]
    }

    private func note(_ reply: Response) -> Response {
        for header in reply.headers where header.name == "Set-Cookie" {
            let parts = header.value.split(separator: ";").map { $0.trimmingSpaces() }
            let pair = (parts.first ?? "").split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            cookies[String(pair[0])] = parts.contains("Max-Age=0") ? nil : String(pair[1])
        }
        return reply
    }
}

extension Response {
    /// The parameters behind the redirect's `#`.
    var fragment: [String: String] {
        let text = location?.split(separator: "#", maxSplits: 1).dropFirst().first ?? ""
        return Dictionary(Request.fields(ofQuery: text).map { ($0.name, $0.value) }) { $1 }
    }

    var hiddenFields: [String: String] {
        var fields: [String: String] = [:]
        for part in page.split(separator: "<input type=\"hidden\" name=\"").dropFirst(page.hasPrefix("<input") ? 0 : 1)
        {
            let words = part.split(separator: "\"", omittingEmptySubsequences: false)
            if words.count > 2 { fields[String(words[0])] = String(words[2]) }
        }
        return fields
    }

    func has(_ header: String, _ part: String) -> Bool {
        headers.contains { $0.name == header && $0.value.contains(part) }
    }
}
