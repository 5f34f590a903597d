// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import RainJSON
import RainKit
import Synchronization

/// The number of requests that a server runs at once, for all its clients together; or the number of its clients.
final class RunLimit: Sendable {
    let maximum: Int
    private let running = Atomic(0)

    init(_ maximum: Int) { self.maximum = maximum }

    /// Returns whether one more may begin. It then ends with ``leave()``.
    func enter() -> Bool {
        if running.add(1, ordering: .acquiringAndReleasing).newValue <= maximum { return true }
        leave()
        return false
    }

    func leave() { running.subtract(1, ordering: .acquiringAndReleasing) }
}

/// The rules of a protocol over JSON-RPC, in which `rainctl serve` and `rainctl mcp` differ.
struct RPCRules: Sendable {
    enum Decision: Sendable {
        /// The request runs beside others.
        case run
        /// The request has this answer at once.
        case answer(Result<String, RPCError>)
        /// The running request with this id ends.
        case cancel(RPCID)
        /// A notification that means nothing here.
        case ignore
    }

    /// Whether the client is a language model's application, as the Model Context Protocol describes it. It sends no batches and may send
    /// answers, a request that it has cancelled gets no answer, and the numbers of errors are those of JSON-RPC.
    var isForModels = false
    /// Decides about each request, in the order of the lines. One caller at a time.
    var decide: @Sendable (RPCCall) -> Decision

    /// The rules of `rainctl serve`.
    static let ofServe = RPCRules { call in
        guard call.method == "cancel" else { return .run }
        guard let id = call.params.last(where: { $0.name == "id" }).flatMap({ RPCID($0.value) }), id != .null,
            call.params.allSatisfy({ $0.name == "id" })
        else {
            let message = "cancel takes the \"id\" of a running request."
            return .answer(
                .failure(
                    RPCError(.invalidParams, CommandFailure(.usage, reason: "bad_params", message: message))))
        }
        return .cancel(id)
    }

    /// The number of a command's failure is its exit status, which is not a number of JSON-RPC.
    fileprivate func adapted(_ error: RPCError) -> RPCError {
        guard isForModels, error.number > 0 else { return error }
        var error = error
        error.number = RPCNumber.serverError.rawValue
        return error
    }
}

/// Reads the lines of one client, runs its requests at the same time, and sends the answers.
final class Dispatcher: Sendable {
    /// Answers a request with a document. `notify` sends something before the answer.
    typealias Work =
        @Sendable (_ call: RPCCall, _ notify: @escaping @Sendable (ServedRequest.Notice) -> Void) async ->
        Result<String, RPCError>
    /// Takes the answer of a request; nil for a notification.
    private typealias Reply = @Sendable (String?) -> Void

    /// The maximum length of a line in bytes.
    static let maximumLine = 1 << 20
    /// The maximum number of requests in a batch. Their answers are kept until the last one ends.
    static let maximumBatch = 1000

    private struct Running {
        let id: RPCID?
        /// Whether the request may run forever, so that the end of the input has to end it.
        let isEndless: Bool
        var isCancelled = false
        /// Whether the client has cancelled it.
        var isWithdrawn = false
        var task: Task<Void, Never>?
    }

    private struct State {
        var running: [Int: Running] = [:]
        /// The number of requests that have ended, and whose answers are being sent.
        var ending = 0
        var next = 0
        var lines = RPCLines(limit: Dispatcher.maximumLine)
        /// No more requests begin.
        var isClosed = false
        var waiting: [Waiter<Void>] = []

        var isIdle: Bool { running.isEmpty && ending == 0 }
    }

    private let limit: RunLimit
    private let rules: RPCRules
    private let isEndless: @Sendable (RPCCall) -> Bool
    private let work: Work
    private let send: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - send: sends one line.
    init(
        limit: RunLimit, rules: RPCRules = .ofServe,
        isEndless: @escaping @Sendable (RPCCall) -> Bool = { _ in false }, work: @escaping Work,
        send: @escaping @Sendable (String) -> Void
    ) {
        self.limit = limit
        self.rules = rules
        self.isEndless = isEndless
        self.work = work
        self.send = send
    }

    // MARK: The client's side

    /// Takes bytes of the client. One caller at a time.
    func take(_ bytes: some Collection<UInt8>) { for line in state.withLock({ $0.lines.append(bytes) }) { take(line) } }

    /// The client sends nothing more. Requests without an end are cancelled; the others run on.
    func endInput() {
        for line in state.withLock({ $0.lines.end() }) { take(line) }
        stop { $0.isEndless }
    }

    /// Cancels all requests, and begins no more.
    func cancelAll() { stop { _ in true } }

    /// Returns when every request has its answer.
    func drained() async {
        let waiter = Waiter<Void>()
        let isIdle = state.withLock { state in
            if !state.isIdle { state.waiting.append(waiter) }
            return state.isIdle
        }
        if !isIdle { await waiter.value() }
    }

    private func stop(_ isMeant: (Running) -> Bool) {
        let tasks = state.withLock { state in
            state.isClosed = true
            let meant = state.running.filter { isMeant($0.value) }.keys
            return meant.compactMap { cancel($0, &state) }
        }
        for task in tasks { task.cancel() }
    }

    // MARK: Lines

    private func take(_ line: RPCLines.Line) {
        guard case .complete(let bytes) = line else {
            let message = "A line has more than \(Self.maximumLine) bytes. The rest of the line is skipped."
            return refuse(RPCRefusal(id: nil, .invalidRequest, reason: "line_too_long", message))
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            return refuse(
                RPCRefusal(
                    id: nil, .parseError,
                    "Each line must be one request in JSON, but this line is not JSON: \(error.message)."))
        }
        guard case .array(let elements) = value else {
            return begin(value) { [send] in if let answer = $0 { send(answer) } }
        }
        guard !rules.isForModels else {
            return refuse(
                RPCRefusal(id: nil, .invalidRequest, "This protocol has no batches: send one request on each line."))
        }
        guard !elements.isEmpty else {
            return refuse(RPCRefusal(id: nil, .invalidRequest, "A batch must contain at least one request."))
        }
        guard elements.count <= Self.maximumBatch else {
            let message =
                "A batch can contain at most \(Self.maximumBatch) requests, but this one has \(elements.count)."
            return refuse(RPCRefusal(id: nil, .invalidRequest, message))
        }
        let batch = Batch(count: elements.count, send)
        for element in elements { begin(element) { batch.take($0) } }
    }

    private func refuse(_ refusal: RPCRefusal) {
        send(RPCText.response(to: refusal.id ?? .null, .failure(refusal.error)))
    }

    /// The answers of a batch, which are sent together.
    private final class Batch: Sendable {
        private let state: Mutex<(left: Int, answers: [String])>
        private let send: @Sendable (String) -> Void

        init(count: Int, _ send: @escaping @Sendable (String) -> Void) {
            state = Mutex((count, []))
            self.send = send
        }

        func take(_ answer: String?) {
            let answers: [String]? = state.withLock { state in
                state.left -= 1
                if let answer { state.answers.append(answer) }
                return state.left == 0 && !state.answers.isEmpty ? state.answers : nil
            }
            if let answers { send("[\(answers.joined(separator: ","))]") }
        }
    }

    // MARK: Requests

    private func begin(_ value: JSONValue, _ reply: @escaping Reply) {
        // This server sends no requests, so an answer is one to nothing.
        if rules.isForModels, value["method"] == nil, value["result"] ?? value["error"] != nil { return reply(nil) }
        let call: RPCCall
        do throws(RPCRefusal) {
            call = try RPCCall(value)
        } catch {
            return reply(RPCText.response(to: error.id ?? .null, .failure(error.error)))
        }
        switch rules.decide(call) {
        case .run: break
        case .answer(let outcome): return answer(call, outcome, reply)
        case .cancel(let id): return answer(call, .success(cancel(id)), reply)
        case .ignore: return reply(nil)
        }
        let key: Int
        switch register(call) {
        case .success(let number): key = number
        case .failure(let error): return answer(call, .failure(error), reply)
        }
        // Ends by itself, or when it is cancelled; `drained` waits for it.
        let task = Task { [self] in
            let outcome = await work(call) { [send] notice in
                if let id = call.id { send(RPCText.notification(of: id, notice)) }
            }
            finish(key) { isWithdrawn in
                isWithdrawn && rules.isForModels ? reply(nil) : answer(call, outcome, reply)
            }
        }
        let isCancelled = state.withLock { state in
            state.running[key]?.task = task
            return state.running[key]?.isCancelled == true
        }
        if isCancelled { task.cancel() }
    }

    private func answer(_ call: RPCCall, _ outcome: Result<String, RPCError>, _ reply: Reply) {
        reply(call.id.map { RPCText.response(to: $0, outcome.mapError(rules.adapted)) })
    }

    private func register(_ call: RPCCall) -> Result<Int, RPCError> {
        let isEndless = isEndless(call)
        return state.withLock { state in
            if state.isClosed {
                return .failure(
                    RPCError(
                        CommandFailure(
                            .cancelled, message: "The request was cancelled, because the server is stopping.")))
            }
            if let id = call.id, id != .null, state.running.values.contains(where: { $0.id == id }) {
                return .failure(
                    RPCError(
                        .invalidRequest,
                        CommandFailure(
                            .usage, reason: "id_in_use", message: "A request with this id is still running.")))
            }
            guard limit.enter() else {
                return .failure(
                    RPCError(
                        CommandFailure(
                            .temporary, reason: "too_many_requests",
                            message: "\(limit.maximum) requests are running: wait until one of them ends.")))
            }
            state.next += 1
            state.running[state.next] = Running(id: call.id, isEndless: isEndless)
            return .success(state.next)
        }
    }

    /// - Parameter reply: sends the answer. Its argument is whether the client has cancelled the request.
    private func finish(_ key: Int, _ reply: (Bool) -> Void) {
        // As soon as the client has the answer, it may use the id again, and another request may begin.
        let isWithdrawn = state.withLock { state in
            state.ending += 1
            return state.running.removeValue(forKey: key)?.isWithdrawn == true
        }
        limit.leave()
        reply(isWithdrawn)
        let waiting = state.withLock { state -> [Waiter<Void>] in
            state.ending -= 1
            guard state.isIdle else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Cancels a request for the client, and returns the document of ``CancelResult``.
    private func cancel(_ id: RPCID) -> String {
        let (isRunning, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard let key = state.running.first(where: { $0.value.id == id })?.key else { return (false, nil) }
            state.running[key]?.isWithdrawn = true
            return (true, cancel(key, &state))
        }
        task?.cancel()
        return JSONText.documentLine(CancelResult(cancelled: isRunning))
    }

    /// Returns the task to cancel; nil if it begins only now.
    private func cancel(_ key: Int, _ state: inout State) -> Task<Void, Never>? {
        state.running[key]?.isCancelled = true
        return state.running[key]?.task
    }
}

/// The result of the method `cancel`.
struct CancelResult: CommandResult {
    /// Whether a request with that id was running. It ends with an error soon, unless it is done already.
    let cancelled: Bool

    var text: String { cancelled ? "The request is being cancelled." : "No such request is running." }
}
