// SPDX-License-Identifier: Apache-2.0
import DeviceCore

/// A port that the firmware prints to and does not read from: what is typed there goes nowhere, and nothing is echoed.
struct SilentConsoleInput: ConsoleInput {
    let greeting: [UInt8] = []
    mutating func receive(_ chunk: [UInt8]) {}
    mutating func next() -> ConsoleStep? { nil }
    mutating func finish() {}
}

/// The commands of such a port.
struct NoCommands: ConsoleCommands {
    func run(_ words: [[UInt8]], board: Board, log: BoardLog) -> CommandOutcome { .output([]) }
    func resume(board: Board, log: BoardLog) -> CommandOutcome { .output([]) }
}
