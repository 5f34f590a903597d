// SPDX-License-Identifier: Apache-2.0
import RainIO

/// Events from the log as it comes in, after those that were read already.
struct EventReader {
    private var waiting: ArraySlice<BoardEvent>
    private var transcript = ConsoleTranscript(command: [])
    private var log = BoardLog()

    init(_ events: [BoardEvent]) { waiting = events[...] }

    mutating func pending() -> BoardEvent? { waiting.popFirst() }

    mutating func append(_ bytes: [UInt8]) -> ConsoleFinding<BoardEvent>? {
        for (index, byte) in bytes.enumerated() {
            if case .line(let line) = transcript.append(byte), let event = log.event(in: line.text) {
                return ConsoleFinding(event, used: index + 1)
            }
        }
        return nil
    }
}
