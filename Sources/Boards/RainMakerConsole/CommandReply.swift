// SPDX-License-Identifier: Apache-2.0
import RainIO

/// The events between the echo of a command and the prompt after it.
///
/// A command that the firmware does not know prints nothing at all, and so does a successful `wifi-prov`.
struct CommandReply: ConsoleReply {
    /// More than any command of this firmware says.
    private static let maximumEvents = 64

    let command: [UInt8]
    private var transcript: ConsoleTranscript
    private var log = BoardLog()
    private var events: [BoardEvent] = []

    init(command: [UInt8]) {
        self.command = command
        transcript = ConsoleTranscript(command: command)
    }

    var outcomeIfRestIsLost: [BoardEvent]? { transcript.hasEarlyPrompt && !transcript.isEchoComplete ? events : nil }

    static func isAtPrompt(after events: [BoardEvent]) -> Bool { !events.contains(.restarted) }

    mutating func append(_ byte: UInt8) -> [BoardEvent]? {
        switch transcript.append(byte) {
        case nil: return nil
        case .prompt: return events
        case .line(let line):
            let event = log.event(in: line.text)
            if event == .restarted { return [.restarted] }
            // What comes amid the echo is older than the command.
            if let event, !line.mayHoldEcho, events.count < Self.maximumEvents { events.append(event) }
            return nil
        }
    }
}
