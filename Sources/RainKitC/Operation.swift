// SPDX-License-Identifier: Apache-2.0
public import CRainKit
import Glibc
import RainCore
import RainIO
import RainKit
import Synchronization

/// What happened in an operation, before it is read.
struct Event: Sendable {
    var kind: Int32
    var code: Int32 = 0
    var name = ""
    var document = ""
    var reason = ""
    var message = ""
    var remedy = ""
    var step = ""

    static func progress(_ name: String, _ document: some Encodable) -> Event {
        Event(kind: Int32(RAINKIT_EVENT_PROGRESS), name: name, document: JSONText.line(document).trimmed)
    }

    static func page(_ document: some Encodable) -> Event {
        Event(kind: Int32(RAINKIT_EVENT_PAGE), name: "page", document: JSONText.line(document).trimmed)
    }

    static func question(_ name: String, _ message: String) -> Event {
        Event(kind: Int32(RAINKIT_EVENT_QUESTION), name: name, message: message)
    }

    static func result(_ document: String) -> Event {
        Event(kind: Int32(RAINKIT_EVENT_RESULT), document: document)
    }

    init(_ error: RainKitError, document: String = "") {
        self.init(
            kind: Int32(RAINKIT_EVENT_ERROR), code: error.code.rawValue, name: error.code.name,
            document: document, reason: error.reason, message: error.sentence, remedy: error.advice,
            step: error.step?.rawValue ?? "")
    }

    private init(
        kind: Int32, code: Int32 = 0, name: String = "", document: String = "", reason: String = "",
        message: String = "", remedy: String = "", step: String = ""
    ) {
        (self.kind, self.code, self.name, self.document) = (kind, code, name, document)
        (self.reason, self.message, self.remedy, self.step) = (reason, message, remedy, step)
    }
}

extension String {
    fileprivate var trimmed: String { hasSuffix("\n") ? String(dropLast()) : self }
}

/// A failure with the part that was done: the document of an error's event.
struct PartialFailure: Error {
    let error: RainKitError
    let document: String
}

/// A call that waits: its events, and the descriptor that shows that one waits.
final class Operation: Sendable {
    /// How many progress events may wait. A host that reads none of them for hours does not fill the memory.
    private static let maximumWaiting = 1024

    private struct State: ~Copyable {
        var waiting: [Event] = []
        /// The index of the next event in `waiting`, so that taking one does not move the others.
        var next = 0
        var dropped: UInt64 = 0
        var last: Event?
        var isLastTaken = false
        var isFreed = false
        var task: Task<Void, Never>?
        var isCancelled = false
        /// Why the operation was cancelled, if the host did not cancel it.
        var refusal: RainKitError?
        var answers: [RainKitSecret] = []
        var asking: CheckedContinuation<RainKitSecret?, Never>?
        /// The strings of the event that was read last.
        var strings: EventStrings?
    }

    private let state = Mutex(State())
    private let wake: WakePipe

    init() throws(CallError) {
        guard let wake = WakePipe() else { throw .temporary }
        self.wake = wake
    }

    var descriptor: Int32 { wake.reader }

    /// Starts the work. Its result is the document of the last event.
    func start(_ work: @escaping @Sendable (Operation) async throws -> String) {
        let task = Task.detached { [self] in
            let last: Event
            do {
                last = .result(try await work(self))
            } catch let failure as PartialFailure {
                last = Event(failure.error, document: failure.document)
            } catch {
                last = Event(isCancelled ? refusal ?? .cancelled : RainKitError(wrapping: error))
            }
            end(last)
        }
        let isTooLate = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isTooLate { task.cancel() }
    }

    /// Waits until the work has ended.
    func ended() async { await state.withLock { $0.task }?.value }

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }
    private var refusal: RainKitError? { state.withLock { $0.refusal } }

    /// Adds an event that the host may read. Events after the last one do not count.
    func add(_ event: Event) {
        state.withLock { state in
            guard state.last == nil, !state.isFreed else { return }
            if state.waiting.count - state.next >= Self.maximumWaiting {
                state.next += 1
                state.dropped += 1
            }
            if state.next > Self.maximumWaiting {
                state.waiting.removeFirst(state.next)
                state.next = 0
            }
            state.waiting.append(event)
            wake.ring()
        }
    }

    private func end(_ event: Event) {
        let asking = state.withLock { state in
            state.last = event
            // Its captures end with it.
            state.task = nil
            wake.ring()
            defer { state.asking = nil }
            return state.asking
        }
        asking?.resume(returning: nil)
    }

    /// Takes the next event into the host's structure.
    /// - Parameter repeatsLast: whether the last event is given again after it was taken.
    /// - Returns: whether there was one.
    func take(into event: UnsafeMutablePointer<rainkit_event>, repeatsLast: Bool = false) throws(CallError) -> Bool {
        try event.check()
        // The host's memory, which only this call writes.
        nonisolated(unsafe) let event = event
        return try state.withLock { state throws(CallError) in
            if state.isFreed { throw .cancelled }
            let taken: Event
            if state.next < state.waiting.count {
                taken = state.waiting[state.next]
                state.next += 1
                if state.next == state.waiting.count { (state.waiting, state.next) = ([], 0) }
            } else if let last = state.last, repeatsLast || !state.isLastTaken {
                taken = last
                state.isLastTaken = true
            } else {
                event.store(.none())
                return false
            }
            if state.next == state.waiting.count, state.last == nil || state.isLastTaken { wake.drain() }
            let strings = EventStrings(taken)
            event.store(strings.event(taken, dropped: state.dropped))
            state.dropped = 0
            state.strings = consume strings
            return true
        }
    }

    /// Takes the next event, and waits for it.
    /// - Parameter limit: in milliseconds; without end if negative.
    /// - Returns: whether there was one in time.
    func wait(_ limit: Int64, into event: UnsafeMutablePointer<rainkit_event>) throws(CallError) -> Bool {
        // A sum beyond the range would be in the past.
        let end = limit < 0 ? nil : monotonicMilliseconds() + min(limit, .max / 2)
        while true {
            if try take(into: event, repeatsLast: true) { return true }
            let left = end.map { $0 - monotonicMilliseconds() }
            if let left, left <= 0 { return false }
            var entry = pollfd(fd: wake.reader, events: Int16(POLLIN), revents: 0)
            // A signal of the host only makes it look again.
            _ = poll(&entry, 1, Int32(min(left ?? 60_000, 60_000)))
        }
    }

    func cancel() {
        let (task, asking) = state.withLock { state in
            state.isCancelled = true
            defer { state.asking = nil }
            return (state.task, state.asking)
        }
        task?.cancel()
        asking?.resume(returning: nil)
    }

    /// Ends an operation that needs a person, because the host only waits for its end.
    func refuse(_ event: rainkit_event) {
        let isPage = event.kind == Int32(RAINKIT_EVENT_PAGE)
        let name = String(
            decoding: UnsafeRawBufferPointer(start: event.name.data, count: event.name.length), as: UTF8.self)
        let error = RainKitError(
            .request(.usage, reason: "unanswered"),
            message:
                "The operation \(isPage ? "shows a page" : "asks for \(name)"), but rainkit_wait() does not handle such events. Read the "
                + "events with rainkit_next_event().")
        state.withLock { $0.refusal = error }
        cancel()
    }

    /// Cancels what still runs, and lets waiting threads return. The descriptor is closed when the last of them has.
    func free() {
        // First, so that a waiting thread sees this and no last event.
        state.withLock { state in
            state.isFreed = true
            state.waiting = []
            state.next = 0
            state.strings = nil
            wake.ring()
        }
        cancel()
    }

    // MARK: Questions

    /// Asks the host, and waits for its answer.
    /// - Returns: nil if it cancels.
    func ask(_ name: String, _ message: String) async -> RainKitSecret? {
        add(.question(name, message))
        return await answer()
    }

    /// Waits for an answer to a question or page that was shown before.
    func answer() async -> RainKitSecret? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: RainKitSecret?? = state.withLock { state in
                    if state.isCancelled || state.isFreed { return .some(nil) }
                    if !state.answers.isEmpty { return state.answers.removeFirst() }
                    state.asking = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let asking = state.withLock { state in
                defer { state.asking = nil }
                return state.asking
            }
            asking?.resume(returning: nil)
        }
    }

    /// Passes the host's answer on. Throws `usage` if the operation is over, or has 16 answers that it did not ask for.
    func take(answer: RainKitSecret?) throws(CallError) {
        let asking = try state.withLock { state throws(CallError) -> CheckedContinuation<RainKitSecret?, Never>? in
            guard state.last == nil, !state.isFreed, state.answers.count < 16 else { throw .usage }
            if let asking = state.asking {
                state.asking = nil
                return asking
            }
            if let answer { state.answers.append(answer) }
            return nil
        }
        if let asking {
            asking.resume(returning: answer)
        } else if answer == nil {
            cancel()
        }
    }
}

/// The strings of one event, as C reads them.
private struct EventStrings: ~Copyable, Sendable {
    private let name, document, reason, message, remedy, step: CText

    init(_ event: Event) {
        name = CText(event.name)
        document = CText(event.document)
        reason = CText(event.reason)
        message = CText(event.message)
        remedy = CText(event.remedy)
        step = CText(event.step)
    }

    func event(_ event: Event, dropped: UInt64) -> rainkit_event {
        rainkit_event(
            size: MemoryLayout<rainkit_event>.size, kind: event.kind, code: event.code, dropped: dropped,
            name: name.string, document: document.string, reason: reason.string, message: message.string,
            remedy: remedy.string, step: step.string)
    }
}

// MARK: Functions

@c @implementation
public func rainkit_operation_descriptor(_ operation: OpaquePointer?) -> Int32 {
    do throws(CallError) { return try Handles.operation(operation).descriptor } catch { return -1 }
}

@c @implementation
public func rainkit_next_event(_ operation: OpaquePointer?, _ event: UnsafeMutablePointer<rainkit_event>?) -> Int32 {
    CallError.number(event) { () throws(CallError) in
        guard let event else { throw .usage }
        _ = try Handles.operation(operation).take(into: event)
    }
}

@c @implementation
public func rainkit_wait_event(
    _ operation: OpaquePointer?, _ timeout: Int64, _ event: UnsafeMutablePointer<rainkit_event>?
) -> Int32 {
    CallError.number(event) { () throws(CallError) in
        guard let event else { throw .usage }
        _ = try Handles.operation(operation).wait(timeout, into: event)
    }
}

@c @implementation
public func rainkit_wait(_ operation: OpaquePointer?, _ event: UnsafeMutablePointer<rainkit_event>?) -> Int32 {
    var code: Int32 = 0
    let failure = CallError.number(event) { () throws(CallError) in
        let operation = try Handles.operation(operation)
        try event?.check()
        var own = rainkit_event()
        own.size = MemoryLayout<rainkit_event>.size
        while true {
            _ = try operation.wait(-1, into: &own)
            if own.kind == Int32(RAINKIT_EVENT_RESULT) || own.kind == Int32(RAINKIT_EVENT_ERROR) { break }
            if own.kind == Int32(RAINKIT_EVENT_PAGE) || own.kind == Int32(RAINKIT_EVENT_QUESTION) {
                operation.refuse(own)
            }
        }
        code = own.code
        event?.store(own)
    }
    return failure == 0 ? code : failure
}

@c @implementation
public func rainkit_operation_answer(_ operation: OpaquePointer?, _ answer: rainkit_string) -> Int32 {
    CallError.number { () throws(CallError) in try Handles.operation(operation).take(answer: try answer.secret) }
}

@c @implementation
public func rainkit_operation_cancel(_ operation: OpaquePointer?) -> Int32 {
    CallError.number { () throws(CallError) in try Handles.operation(operation).cancel() }
}

@c @implementation
public func rainkit_operation_free(_ operation: OpaquePointer?) -> Int32 {
    guard operation != nil else { return 0 }
    return CallError.number { () throws(CallError) in try Handles.removeOperation(operation).free() }
}
