// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import Synchronization

/// The log of the board at a port, as it comes: fed by whoever reads the port, asked by whoever wants to know.
public final class DeviceLog: Sendable {
    fileprivate struct State {
        var reader = DeviceLogReader()
        var assembler = LineAssembler()
        var hasHeard = false
        var hasPrompt = false
        var nameHeard: Duration?
        var failedStarts = FailedStarts()
        var lastTrouble: DeviceTrouble?
        /// The last line ended behind the name of a secret.
        var awaitsSecret = false
    }

    /// What a moment of the log is.
    public struct Moment: Sendable {
        /// What is known of the board.
        public var summary: DeviceSummary
        /// Whether anything at all has come.
        public var hasHeard: Bool
        /// How many bytes have come since the last line end; at most 4096 are counted.
        public var unfinishedBytes: Int
        /// Whether a command console has shown its prompt.
        public var hasPrompt: Bool
        /// When the board said what it is called, or that it will not be provisioned, since its last start.
        public var decided: Duration?
        /// Whether the board has failed to come up at two starts in a row, which no patience mends.
        public var failsToStart: Bool
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Duration
    private let line: @Sendable (String) -> Void
    private let event: @Sendable (DeviceLogEvent) -> Void

    /// - Parameters:
    ///   - now: the time since any moment that does not change.
    ///   - line: is handed each line, without the secrets that firmware prints.
    ///   - event: is handed what the lines say, each after the line that says it.
    public init(
        now: @escaping @Sendable () -> Duration, line: @escaping @Sendable (String) -> Void = { _ in },
        event: @escaping @Sendable (DeviceLogEvent) -> Void = { _ in }
    ) {
        self.now = now
        self.line = line
        self.event = event
    }

    /// Takes what was read from the port.
    public func take(_ bytes: [UInt8]) {
        let time = now()
        for read in state.withLock({ $0.take(bytes, at: time) }) {
            line(read.text)
            for said in read.events { event(said) }
        }
    }

    /// What is known now.
    public var moment: Moment {
        state.withLock {
            Moment(
                summary: $0.reader.summary, hasHeard: $0.hasHeard,
                unfinishedBytes: $0.assembler.pending.count, hasPrompt: $0.hasPrompt, decided: $0.nameHeard,
                failsToStart: $0.failedStarts.isDown)
        }
    }

    /// What has gone wrong since that was asked last; nil where nothing has.
    public func takeTrouble() -> DeviceTrouble? {
        state.withLock { state in
            defer { state.lastTrouble = nil }
            return state.lastTrouble
        }
    }
}

extension DeviceLog.State {
    struct Read {
        /// As it may be shown.
        let text: String
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
        let events = reader.take(line, at: time)
        for event in events {
            switch event {
            case .restarted:
                nameHeard = nil
                hasPrompt = false
                failedStarts.restarted()
            case .provisioningStarted, .code, .announced, .unnamedProvisioning, .alreadyProvisioned:
                nameHeard = nameHeard ?? time
            case .trouble(let trouble):
                lastTrouble = trouble
                guard trouble.isFatal else { continue }
                nameHeard = nameHeard ?? time
                failedStarts.failed()
            case .applicationStarted:
                // The boot loader has found another one.
                if !reader.summary.isDown { (nameHeard, failedStarts) = (nil, FailedStarts()) }
            case .sessionEstablished, .joined: break
            }
        }
        return events
    }
}

/// What the log of a board says that a client acts on.
public enum DeviceLogEvent: Sendable {
    /// The ROM's first line: the board was reset, and what was known of its last run is over.
    case restarted
    /// The application has started; `app_init` names it.
    case applicationStarted
    /// The provisioning service runs, under that name.
    case provisioningStarted(name: String)
    /// What the board's QR code says: its name, its proof of possession and how it is reached.
    case code(QRPayload)
    /// Name and proof that an application prints instead of a code: those from before 2024, and Arduino sketches.
    case announced(name: String, proof: ProofOfPossession?)
    /// The application starts provisioning and does not print the name of its service, as Arduino sketches without `printQR` do.
    case unnamedProvisioning
    /// The board has Wi-Fi settings of earlier and starts no provisioning.
    case alreadyProvisioned
    /// A client has proven that it may provision the board.
    case sessionEstablished
    /// The station has this address.
    case joined(address: String)
    /// Something is wrong with the board.
    case trouble(DeviceTrouble)
}

/// Counts the starts in a row that ended with a board that does not come up: one may be a button that was held, the second is no accident.
struct FailedStarts: Sendable {
    private var count = 0
    private var hasFailed = false

    /// Whether nothing will come of waiting.
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
