// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import RainJSON
import RainMicroHTTP
import RainPrivateFiles
import RainQRCode
import Synchronization

/// A machine at work on a batch, with a page for browsers: boards as they appear, their steps, failures, retries and scanned codes.
///
/// ``work(_:)`` provisions the boards, and waits for retries once nothing is left to do. ``serve(on:machine:)`` serves the page meanwhile, until ``close()``.
package final class Station: Sendable {
    private struct Viewer: Sendable {
        var stream: LocalStream
        var known: Int64?
    }

    private struct State {
        var page: StationPage
        var gate: StationGate?
        var viewers: [ObjectIdentifier: Viewer] = [:]
        var run: BatchRun?
        var isStopping = false
        var codes: [String: QRPayload] = [:]
        var server: LocalServer?
    }

    /// Where the page is.
    package struct Place: Sendable {
        /// The link to open. It is good for one browser.
        package var link: String
        /// Whether other machines can reach the page.
        package var isOpenToNetwork: Bool
    }

    private let client: RainKitClient
    private let ledger: any Ledger
    private let batch: Batch
    private let file: BatchFile?
    private let options: BatchOptions
    private let state: Mutex<State>
    private let changes = Bell()
    private let wakes = Bell()
    private let reloads = Bell()

    /// The maximum number of pages that are shown at the same time.
    static let maximumViewers = 32
    /// The maximum number of scanned codes that wait for their boards.
    static let maximumCodes = 10_000
    /// The maximum size of a picture: a phone's photo.
    static let maximumPicture = 12 << 20

    /// - Parameters:
    ///   - file: nil for a batch of discovered boards. Then `options` has a discovery.
    package init(
        _ client: RainKitClient, _ batch: Batch, _ file: BatchFile?, in ledger: any Ledger, options: BatchOptions
    ) {
        (self.client, self.ledger, self.batch, self.file) = (client, ledger, batch, file)
        self.options = options
        let now = client.configuration.tools.clock.now
        state = Mutex(State(page: StationPage(batch, now: Int64(now.seconds) * 1000)))
    }

    private var time: Timekeeper { Timekeeper(client.configuration.tools.timer) }
    private var discovers: Bool { options.discovery != nil }

    // MARK: The run

    /// Provisions the boards until ``stop()``, and reports what happens. A run that ends with an error is shown on the page, and a retry
    /// continues it.
    package func work(_ report: @escaping @Sendable (BatchEvent) -> Void, halted: @Sendable (RainKitError) -> Void)
        async throws
    {
        try await reload()
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await self.publish() }
            group.addTask { await self.follow() }
            group.addTask { await self.keepAlive() }
            while !isStopping {
                change { $0.activity = .working }
                do {
                    try await runOnce(report)
                    change { $0.activity = .idle }
                } catch {
                    let error = RainKitError(wrapping: error)
                    if Task.isCancelled { throw error }
                    if isStopping { throw error }
                    halted(error)
                    change { $0.activity = .halted(message: error.sentence, remedy: error.advice) }
                }
                if isStopping { break }
                await wakes.wait()
                if Task.isCancelled { throw RainKitError.cancelled }
            }
        }
    }

    private func runOnce(_ report: @Sendable (BatchEvent) -> Void) async throws {
        let run = client.provision(batch: batch, in: ledger, file: file, options: chosenOptions)
        let isLate = state.withLock { state in
            state.run = run
            return state.isStopping
        }
        if isLate { run.stop() }
        defer { state.withLock { $0.run = nil } }
        for try await event in run {
            let needsLedger = state.withLock { state in
                state.page.take(event)
                guard case .counts(let counts) = event else { return false }
                let shown = state.page.total
                return (shown.waiting, shown.running, shown.done, shown.failed)
                    != (counts.waiting, counts.running, counts.done, counts.failed)
            }
            changes.ring()
            if needsLedger { reloads.ring() }
            report(event)
        }
        try await reload()
    }

    /// The options of a run, in which a scanned code has precedence over the proof of possession for all boards.
    private var chosenOptions: BatchOptions {
        var options = options
        guard let makeEntry = options.discovery?.entry else { return options }
        options.discovery?.entry = { [self] found, line in
            guard var entry = makeEntry(found, line) else { return nil }
            guard let code = state.withLock({ $0.codes[entry.label ?? entry.name] }) else { return entry }
            entry.code = code
            entry.label = code.name
            entry.proof = code.proofOfPossession
            entry.hasGivenProof = false
            return entry
        }
        return options
    }

    /// Ends the work in an orderly way: each board finishes its step.
    package func stop() {
        let run = state.withLock { state in
            state.isStopping = true
            state.page.activity = .stopping
            return state.run
        }
        run?.stop()
        changes.ring()
        wakes.ring()
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    private func change(_ change: (inout StationPage) -> Void) {
        state.withLock { change(&$0.page) }
        changes.ring()
    }

    /// Reads all boards from the ledger: other stations work on them, too.
    private func reload() async throws {
        var last = 0
        while true {
            let after = last
            let boards = try await RainKitError.rethrowing { () async throws(LedgerError) in
                try await ledger.boards(of: batch.id, after: after, limit: 1000)
            }
            guard let line = boards.last?.line, line > last else { return }
            last = line
            change { $0.load(boards) }
        }
    }

    private func follow() async {
        while !Task.isCancelled {
            await reloads.wait()
            // Without an answer the next counts ask again.
            try? await reload()
            try? await time.sleep(.seconds(1))
        }
    }

    // MARK: What browsers see

    /// Sends changes to all browsers, at most five times a second. A browser that has not taken the last update gets the next one later.
    private func publish() async {
        while !Task.isCancelled {
            await changes.wait()
            send()
            try? await time.sleep(.milliseconds(200))
        }
    }

    private func send() {
        state.withLock { state in
            var made: [Int64?: (number: Int64, bytes: [UInt8])] = [:]
            for (id, viewer) in state.viewers {
                guard viewer.stream.isIdle else {
                    // It is asked again, without waiting for another change.
                    changes.ring()
                    continue
                }
                if made[viewer.known] == nil, let update = state.page.update(since: viewer.known, discovers: discovers)
                {
                    made[viewer.known] = (update.number, Self.event(update))
                }
                guard let (number, bytes) = made[viewer.known] else { continue }
                viewer.stream.send(bytes)
                state.viewers[id]?.known = number
            }
        }
    }

    private static func event(_ update: StationPage.Update) -> [UInt8] {
        Array("id: \(update.number)\ndata: \(JSONText.line(update))\n".utf8)
    }

    /// A browser that went away is noticed only when something is sent.
    private func keepAlive() async {
        while (try? await time.sleep(.seconds(10))) != nil {
            for viewer in state.withLock({ Array($0.viewers.values) }) where viewer.stream.isIdle {
                viewer.stream.send(":\n\n".utf8)
            }
        }
    }

    private func watch(_ request: LocalRequest) -> LocalResponse {
        let stream = LocalStream()
        let known = request.values("last-event-id").first.flatMap { Int64($0) }
        let isFull = state.withLock { state in
            guard state.viewers.count < Self.maximumViewers else { return true }
            state.viewers[ObjectIdentifier(stream)] = Viewer(stream: stream, known: known)
            return false
        }
        guard !isFull else { return .text(503, "Too many pages are open.") }
        stream.onClose { [self] in state.withLock { $0.viewers[ObjectIdentifier(stream)] = nil } }
        stream.send("retry: 1000\n\n".utf8)
        changes.ring()
        return LocalResponse(200, headers: StationAssets.headers("text/event-stream"), stream: stream)
    }

    // MARK: The server

    /// Starts the page's server. ``close()`` ends it.
    ///
    /// - Parameter machine: the machine's name, under which other machines of the network reach it.
    /// - Throws: `RainKitError` if the address cannot be used, or libmicrohttpd is not installed.
    package func serve(on text: String, machine: String) throws -> Place {
        do throws(LocalServerError) {
            let wanted = try LocalAddress(text)
            let server = try LocalServer(wanted, self)
            let session = try sessionKey(of: server.address, isKept: wanted.port != 0)
            let token = newToken()
            state.withLock { state in
                state.server = server
                state.gate = StationGate(server.address, machine: machine, session: session, token: token)
            }
            var host = server.address
            if host.isWildcard { host.host = machine }
            return Place(
                link: "http://\(host.authority)/?token=\(token.revealString())",
                isOpenToNetwork: !server.address.isLoopback)
        } catch {
            throw RainKitError(error, text)
        }
    }

    private func newToken() -> Secret { Secret(Base64.urlText(client.configuration.tools.randomBytes(32))) }

    /// Returns the value of the cookie. For a given port it is kept in a private file, so that a page reconnects to a station that restarts.
    private func sessionKey(of address: LocalAddress, isKept: Bool) throws(LocalServerError) -> Secret {
        let new = newToken()
        guard isKept, client.configuration.keepsFiles else { return new }
        var key = new
        let file = PrivateDocument<[String: String]>(path: "\(client.configuration.state)/station-pages.json")
        // Without the file, the page only has to be opened again after a restart.
        try? file.change(orThrow: { $0 }) { content throws(PrivateDocumentError) in
            var known = content ?? [:]
            if let old = known[address.authority], old.utf8.count == new.count { key = Secret(old) }
            if known.count > 64 { known = [:] }
            known[address.authority] = key.revealString()
            content = known
        }
        return key
    }

    /// Ends the page's server, and waits until that is done.
    package func close() async {
        let server = state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        await server?.stop()
    }
}

extension Station: LocalService {
    package func admit(_ request: LocalRequest) -> LocalAdmission {
        let (verdict, cookie) = state.withLock { state in
            (state.gate?.judge(request), state.gate?.cookie ?? "")
        }
        switch verdict {
        case .welcome:
            return .refused(
                LocalResponse(
                    303, headers: [("Location", "/"), ("Set-Cookie", cookie)] + StationAssets.headers("text/plain")))
        case .allowed:
            switch (request.method, request.path) {
            case ("POST", "/scan"): return .accepted(maximumBody: Self.maximumPicture)
            case ("POST", _): return .accepted(maximumBody: 1 << 20)
            case ("GET", _): return .accepted(maximumBody: 0)
            default: return .refused(.text(405, "This method is not supported."))
            }
        case .refused(.token):
            return .refused(
                .text(
                    403, "This page needs the link that the station has printed. Each link works in one browser only."))
        case .refused(.host), .refused(.origin), nil:
            return .refused(.text(403, "Open the station at the address that it has printed."))
        }
    }

    package func respond(to request: LocalRequest, body: [UInt8]) async -> LocalResponse {
        do {
            switch (request.method, request.path) {
            case ("GET", "/events"): return watch(request)
            case ("GET", "/report.csv"):
                return .file(try await report().csv(), "text/csv; charset=utf-8", name: "batch-\(batch.id).csv")
            case ("GET", "/report.html"): return .document(try await report().html())
            case ("GET", "/labels.html"): return try await labels()
            case ("POST", "/retry"): return try await retry(body)
            case ("POST", "/continue"):
                wakes.ring()
                return .json(["ok": true])
            case ("POST", "/scan"): return try await scan(body)
            case ("POST", "/link"): return try link(request)
            case ("GET", let path):
                return StationAssets.response(to: path) ?? .text(404, "There is no such page.")
            default: return .text(404, "There is no such page.")
            }
        } catch {
            let error = RainKitError(wrapping: error)
            return .json(["message": .string(error.sentence), "remedy": .string(error.advice)], status: 500)
        }
    }

    private func report() async throws -> BatchReport { try await client.report(on: batch, in: ledger) }

    private func labels() async throws -> LocalResponse {
        let boards = try await report().boards
        var entries = file?.entries ?? []
        if file == nil {
            // Boards whose codes were scanned have labels.
            let codes = state.withLock { $0.codes }
            entries = boards.compactMap { board in
                guard let code = codes[board.name], let address = try? BoardAddress(board.address) else { return nil }
                var entry = BatchEntry(line: board.line, name: board.name, address: address)
                (entry.code, entry.label, entry.proof) = (code, code.name, code.proofOfPossession)
                return entry
            }
        }
        let layout = try BatchLabels.Layout()
        do throws(QRCodeError) {
            let sheet = BatchLabels(entries, boards: boards, layout: layout)
            guard !sheet.labels.isEmpty else {
                return .text(
                    404, "No board of this batch has a QR code or a name with its transport, so no labels can be made.")
            }
            return .document(try sheet.html())
        } catch {
            return .text(
                500,
                "Labels cannot be drawn: \(error.package.map { "the package \($0) is not installed" } ?? "the library has failed")."
            )
        }
    }

    private func retry(_ body: [UInt8]) async throws -> LocalResponse {
        guard let document = try? JSONValue(parsing: body, limits: JSONLimits(maximumBytes: 1 << 20)),
            document.members != nil
        else { return .text(400, "The request is not a JSON object.") }
        var lines: [Int]?
        if let given = document["lines"] {
            guard let values = given.array, values.allSatisfy({ $0.integer != nil }) else {
                return .text(400, "The lines are not numbers.")
            }
            lines = values.compactMap { $0.integer.map { Int(clamping: $0) } }
        }
        return .json(["waiting": .integer(Int64(try await putBack(lines)))])
    }

    /// Lets failed boards wait again, and the run continue with them.
    private func putBack(_ lines: [Int]?) async throws -> Int {
        let count = try await client.retry(batch, lines: lines, in: ledger)
        try await reload()
        if count > 0 { wakes.ring() }
        return count
    }

    /// Reads the codes of a picture. A code of a board of the batch shows its row. In a batch of discovered boards it is that board's proof
    /// of possession from now on, and a board that has failed is tried with it.
    private func scan(_ picture: [UInt8]) async throws -> LocalResponse {
        let found: [[UInt8]]
        do throws(QRCodeError) {
            found = try QRScanner.payloads(inPicture: picture)
        } catch {
            let text: String
            switch error.code {
            case .noCode: text = "There is no QR code in the picture."
            case .libraryMissing:
                text = "The station cannot read pictures: the package \(error.package ?? "libzbar0") is not installed."
            case .imageTooLarge: text = "The picture is too large."
            default: text = "The picture cannot be read. PNG and JPEG pictures are supported."
            }
            return .json(["found": false, "message": .string(text)])
        }
        var last = "This is not the code of a board."
        for text in found {
            let code: QRPayload
            do throws(BoardError) {
                code = try QRPayload(text)
            } catch {
                last = error.message
                continue
            }
            return .json(try await take(code))
        }
        return .json(["found": false, "message": .string(last)])
    }

    private func take(_ code: QRPayload) async throws -> JSONValue {
        let name = code.name.onOneLine
        let listed = file?.entries.first { $0.label == code.name || $0.code?.name == code.name }?.line
        let (line, status) = state.withLock { state in
            let line = listed ?? state.page.line(named: code.name)
            return (line, line.flatMap { state.page.state(ofLine: $0) })
        }
        var answer = [JSONValue.Member("found", true), JSONValue.Member("name", .string(name))]
        if let line { answer.append(JSONValue.Member("line", .integer(Int64(line)))) }
        var message: String
        if discovers {
            let isFull = state.withLock { state in
                guard state.codes[code.name] != nil || state.codes.count < Self.maximumCodes else { return true }
                state.codes[code.name] = code
                return false
            }
            if isFull { return ["found": false, "message": "Too many codes were scanned."] }
            message = "\(name) has not appeared yet. The station will use this code when the board appears."
            if let line, status == "failed" {
                _ = try await putBack([line])
                message = "The station tries \(name) again, with the scanned code."
            } else if let status {
                message = "\(name) is \(status)."
            }
        } else if let status {
            message = "\(name) is in line \(line ?? 0): \(status)."
        } else {
            message = "\(name) is not in this batch."
        }
        answer.append(JSONValue.Member("message", .string(message)))
        return .object(answer)
    }

    /// Makes a link for one more browser, under the name that this one uses.
    private func link(_ request: LocalRequest) throws -> LocalResponse {
        let token = newToken()
        state.withLock { $0.gate?.add(token) }
        let url = "http://\(request.values("host").first ?? "")/?token=\(token.revealString())"
        let drawing = (try? QRMatrix(Array(url.utf8)))?.svg(side: 60) ?? ""
        return .json(["url": .string(url), "svg": .string(drawing)])
    }
}

/// Wakes the one task that waits for it. Several rings before it waits count as one.
private final class Bell: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func ring() { continuation.yield() }

    /// Returns after a ring, or when the task is cancelled.
    func wait() async { for await _ in stream { return } }
}

extension LocalResponse {
    static func text(_ status: Int, _ text: String) -> LocalResponse {
        LocalResponse(
            status, headers: StationAssets.headers("text/plain; charset=utf-8"), body: Array((text + "\n").utf8))
    }

    static func json(_ value: JSONValue, status: Int = 200) -> LocalResponse {
        LocalResponse(status, headers: StationAssets.headers("application/json"), body: value.serialized())
    }

    static func file(_ text: String, _ type: String, name: String) -> LocalResponse {
        LocalResponse(
            200, headers: StationAssets.headers(type) + [("Content-Disposition", "attachment; filename=\"\(name)\"")],
            body: Array(text.utf8))
    }

    /// A page of its own, with its style inside and without scripts.
    static func document(_ html: String) -> LocalResponse {
        LocalResponse(
            200, headers: StationAssets.headers("text/html; charset=utf-8", policy: StationAssets.documentPolicy),
            body: Array(html.utf8))
    }
}

extension RainKitError {
    init(_ error: LocalServerError, _ address: String) {
        switch error {
        case .libraryMissing:
            self.init(
                .request(.unavailable, reason: "no_library"),
                message: "The page needs libmicrohttpd, which is not installed (Debian: libmicrohttpd12).")
        case .invalidAddress:
            self = .usage(
                "The address \(address.onOneLine) is not an IP address with a port, such as 127.0.0.1:8080 or 0.0.0.0:8080."
            )
        case .cannotListen(let number):
            self.init(
                .request(.unavailable, reason: "cannot_listen"),
                message: "The page cannot be served on \(address.onOneLine): \(systemErrorText(number)).")
        case .failed:
            self.init(
                .request(.unavailable, reason: "cannot_listen"),
                message: "The page cannot be served on \(address.onOneLine): libmicrohttpd did not start.")
        }
    }
}
