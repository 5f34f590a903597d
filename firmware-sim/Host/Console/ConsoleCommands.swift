// SPDX-License-Identifier: Apache-2.0
import DeviceCore

/// What a dialect's commands do.
protocol ConsoleCommands {
    func run(_ words: [[UInt8]], board: Board, log: BoardLog) -> CommandOutcome
    /// Asked again while a command is ``CommandOutcome/later``.
    func resume(board: Board, log: BoardLog) -> CommandOutcome
    /// What is said of something that happens, besides the log's lines.
    func announcement(of event: DeviceEvent, board: Board) -> [UInt8]
}

extension ConsoleCommands {
    func announcement(of event: DeviceEvent, board: Board) -> [UInt8] { [] }
}

enum CommandOutcome: Equatable {
    case output([UInt8])
    /// Each by a call of its own, so that other tasks' log may come in between.
    case pieces([[UInt8]])
    /// A blocking handler keeps the console's task.
    case later
}
