// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore
import RainIO
import Synchronization

/// The protocol of the console at a serial port.
public enum ConsoleDialect: Sendable, Equatable {
    /// ESP-IDF's protocomm console; the session with that id is open now.
    case protocomm(sessionID: Int32)
    /// The commands of RainMaker's examples, on the board with that id.
    case rainMaker(NodeID)
}

extension CommandConsole {
    /// How long a board may take to boot and show a prompt, and then to answer two commands. Some boot for 8 s.
    public static let probingDeadline = Duration.seconds(12)

    /// Finds the console's protocol with input that is harmless in each of them. An empty line shows the prompt. Then it types
    /// `get-node-id`, which only RainMaker's console knows, and a request for protocomm's version. Both consoles ignore unknown commands
    /// without output.
    ///
    /// If neither is answered, both are sent once more, because the log may have come in between. After a restart of the board, this begins
    /// again.
    ///
    /// Throws `unavailable` if no prompt appears, and `unsupported` if the console answers neither command.
    public func dialect(
        sessionID: Int32 = .random(in: 1...Int32.max), clock: any Clock<Duration> = ContinuousClock()
    ) async throws(BoardError) -> ConsoleDialect {
        let path = port.path
        let isEchoCut = Mutex(false)
        let found = await withDeadline(Self.probingDeadline, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(SerialPortError) in
            try await self.ask(sessionID, cut: { isCut in isEchoCut.withLock { $0 = $0 || isCut } })
        }
        switch found {
        case .success(let dialect?)?: return dialect
        case .success(nil)?:
            throw BoardError(
                .unsupported,
                message:
                    "The console at \(path) supports neither RainMaker's commands nor protocomm. Try another transport."
            )
        case .failure(let error)?: throw BoardError(error, hasAnswered: false)
        case nil where isEchoCut.withLock({ $0 }):
            throw BoardError(.unavailable, message: BoardError.lostCharacters, reason: "no_prompt")
        case nil:
            throw BoardError(
                .unavailable,
                message:
                    "Neither a console prompt nor a board's log appeared at \(path). Press the board's RESET button during the "
                    + "search, use its UART connector, or use another transport.", reason: "no_prompt")
        }
    }

    /// - Parameter cut: receives for each command whether its echo lacks bytes.
    private func ask(
        _ sessionID: Int32, cut: @Sendable (Bool) -> Void
    ) async throws(SerialPortError) -> ConsoleDialect? {
        // Any body works; the official tools send three dashes.
        let version = Array("proto-ver \(sessionID) 2d2d2d".utf8)
        var silences = 0
        while silences < 2 {
            let events = try await run(
                CommandReply(command: Array("get-node-id".utf8)), atEnd: { cut($0.isEchoCut) })
            for case .nodeID(let id) in events { return .rainMaker(id) }
            // If a board never stops restarting, the deadline ends this.
            guard !events.contains(.restarted) else { continue }
            switch try await run(ConsoleReplyParser(command: version), atEnd: { cut($0.isEchoCut) }) {
            case .answer, .malformed: return .protocomm(sessionID: sessionID)
            case .refused, .nothing: silences += 1
            case .restarted: continue
            }
        }
        return nil
    }
}
