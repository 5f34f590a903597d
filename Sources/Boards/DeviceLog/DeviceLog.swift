// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import Synchronization

/// The log of the board at a port, while it arrives. One task feeds it from the port; others ask for the state.
public final class DeviceLog: Sendable {
    fileprivate struct State {
        var reader = DeviceLogReader()
        var assembler = LineAssembler()
        var hasHeard = false
        var hasPrompt = false
        var nameHeard: Duration?
        var failedStarts = FailedStarts()
        var lastTrouble: DeviceTrouble?
        /// The last line ended after the name of a secret.
        var awaitsSecret = false
    }

    /// A snapshot of the log's state.
    public struct Moment: Sendable {
        /// The facts known about the board.
        public var summary: DeviceSummary
        /// Whether any byte has arrived.
        public var hasHeard: Bool
        /// The number of bytes since the last line end, counted up to 4096.
        public var unfinishedBytes: Int
        /// Whether a command console has shown its prompt.
        public var hasPrompt: Bool
        /// When the board printed its name, or that it will not be provisioned, since its last start.
        public var decided: Duration?
        /// Whether the board failed to come up at two starts in a row. Waiting longer does not help then.
        public var failsToStart: Bool
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Duration
    private let line: @Sendable (String) -> Void
    private let event: @Sendable (DeviceLogEvent) -> Void

    /// - Parameters:
    ///   - now: the time since any fixed moment.
    ///   - line: called with each line, without the secrets that firmware prints.
    ///   - event: called with the meaning of a line, after `line`.
    public init(
        now: @escaping @Sendable () -> Duration, line: @escaping @Sendable (String) -> Void = { _ in },
        event: @escaping @Sendable (DeviceLogEvent) -> Void = { _ in }
    ) {
        self.now = now
        self.line = line
        self.event = event
    }

    /// Accepts bytes that were read from the port.
    public func take(_ bytes: [UInt8]) {
        let time = now()
        for read in state.withLock({ $0.take(bytes, at: time) }) {
            if let text = read.text { line(text) }
            for said in read.events { event(said) }
        }
    }

    /// The current snapshot.
    public var moment: Moment {
        state.withLock {
            Moment(
                summary: $0.reader.summary, hasHeard: $0.hasHeard,
                unfinishedBytes: $0.assembler.pending.count, hasPrompt: $0.hasPrompt, decided: $0.nameHeard,
                failsToStart: $0.failedStarts.isDown)
        }
    }

    /// Returns the trouble found since the last call, or nil. Of several, the last one counts that is more than a restart.
    public func takeTrouble() -> DeviceTrouble? {
        state.withLock { state in
            defer { state.lastTrouble = nil }
            return state.lastTrouble
        }
    }
}

extension DeviceLog.State {
    struct Read {
        /// The text that may be shown; nil for a line that has not ended.
        let text: String?
        let events: [DeviceLogEvent]
    }

    mutating func take(_ bytes: [UInt8], at time: Duration) -> [Read] {
        hasHeard = hasHeard || !bytes.isEmpty
        var shown: [Read] = []
        for byte in bytes {
            if let line = assembler.append(byte) {
                shown.append(Read(text: masked(line), events: take(line: line, at: time)))
            } else if byte == UInt8(ascii: " "), assembler.pending == ConsoleTranscript.prompt {
                hasPrompt = true
            } else if assembler.pending.count.isMultiple(of: Legibility.sample), !assembler.isOverflowing {
                let events = heard(reader.take(unfinished: assembler.pending), at: time)
                if !events.isEmpty { shown.append(Read(text: nil, events: events)) }
            }
        }
        return shown
    }

    private mutating func masked(_ line: [UInt8]) -> String {
        let isSecret = awaitsSecret && DeviceLogLine(line).level == nil && !BootLoader.says(line)
        let (text, awaitsValue) = LogMask.masked(line)
        awaitsSecret = awaitsValue
        return isSecret ? "***" : text
    }

    private mutating func take(line: [UInt8], at time: Duration) -> [DeviceLogEvent] {
        heard(reader.take(line, at: time), at: time)
    }

    @discardableResult
    private mutating func heard(_ events: [DeviceLogEvent], at time: Duration) -> [DeviceLogEvent] {
        for event in events {
            switch event {
            case .restarted:
                nameHeard = nil
                hasPrompt = false
                failedStarts.restarted()
            case .provisioningStarted, .code, .announced, .unnamedProvisioning, .alreadyProvisioned:
                nameHeard = nameHeard ?? time
            case .trouble(let trouble):
                guard !trouble.isOfRunningBoard else { continue }
                // The restart after a crash is not the cause.
                if lastTrouble == nil || !trouble.isRestart || trouble.isLoop && lastTrouble?.isRestart == true {
                    lastTrouble = trouble
                }
                guard trouble.isFatal else { continue }
                nameHeard = nameHeard ?? time
                failedStarts.failed()
            case .applicationStarted:
                // The boot loader has found another image.
                if !reader.summary.isDown { (nameHeard, failedStarts) = (nil, FailedStarts()) }
            case .sessionEstablished, .joined: break
            }
        }
        return events
    }
}

/// An event in a board's log that a client acts on.
public enum DeviceLogEvent: Sendable {
    /// The ROM's first line: the board was reset, and facts about its last run are no longer valid.
    case restarted
    /// The application has started; `app_init` names it.
    case applicationStarted
    /// The provisioning service is running under this name.
    case provisioningStarted(name: String)
    /// The content of the board's QR code: its name, its proof of possession and its transport.
    case code(QRPayload)
    /// A name and proof that an application prints without a code: applications from before 2024, and Arduino sketches.
    case announced(name: String, proof: ProofOfPossession?)
    /// The application starts provisioning and does not print the name of its service, like Arduino sketches without `printQR`.
    case unnamedProvisioning
    /// The board has earlier Wi-Fi settings and starts no provisioning.
    case alreadyProvisioned
    /// A client has proven that it may provision the board.
    case sessionEstablished
    /// The station has this address.
    case joined(address: String)
    /// Something is wrong with the board.
    case trouble(DeviceTrouble)
}

/// Counts consecutive starts at which the board does not come up. One may be a button that was held; the second is no accident.
struct FailedStarts: Sendable {
    private var count = 0
    private var hasFailed = false

    /// Whether waiting does not help.
    var isDown: Bool { count >= 2 }

    mutating func restarted() {
        if !hasFailed { count = 0 }
        hasFailed = false
    }

    mutating func failed() {
        guard !hasFailed else { return }
        hasFailed = true
        count += 1
    }
}
