// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore
import RainIO

/// What the console at the other end of a serial port speaks.
public enum ConsoleDialect: Sendable, Equatable {
    /// ESP-IDF's protocomm console, whose session of that id is open now.
    case protocomm(sessionID: Int32)
    /// The commands of RainMaker's examples, on the board of that id.
    case rainMaker(NodeID)
}

extension CommandConsole {
    /// How long a board may take to boot and show a prompt, and then to answer two commands: some boot for 8 s.
    public static let probingDeadline = Duration.seconds(12)

    /// Finds out what the board's console speaks by typing what is harmless in every dialect: an empty line, which shows
    /// the prompt; `get-node-id`, which only RainMaker's console knows; and a request for protocomm's version. Both
    /// consoles pass over a command that they do not know without a word. One that knew neither is asked both once more, as its log
    /// may have come in between; one that restarts is asked from the beginning.
    ///
    /// Throws `unavailable` where nothing shows a prompt, `unsupported` where the prompt answers to neither command.
    public func dialect(
        sessionID: Int32 = .random(in: 1...Int32.max), clock: any Clock<Duration> = ContinuousClock()
    ) async throws(ProvisioningError) -> ConsoleDialect {
        let path = port.path
        let found = await withDeadline(Self.probingDeadline, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(SerialPortError) in try await self.ask(sessionID)
        }
        switch found {
        case .success(let dialect?)?: return dialect
        case .success(nil)?:
            throw ProvisioningError(
                .unsupported,
                message:
                    "The console at \(path) knows neither RainMaker's commands nor protocomm. Try another transport.")
        case .failure(let error)?: throw ProvisioningError(error, hasAnswered: false)
        case nil:
            throw ProvisioningError(
                .unavailable,
                message:
                    "Nothing at \(path) shows a console's prompt, or a log that names a board. Press the board's RESET button while this "
                    + "runs, use its UART connector, or another transport.", reason: "no_prompt")
        }
    }

    private func ask(_ sessionID: Int32) async throws(SerialPortError) -> ConsoleDialect? {
        // Any body will do; the official tools send three dashes.
        let version = Array("proto-ver \(sessionID) 2d2d2d".utf8)
        var silences = 0
        while silences < 2 {
            let events = try await run(CommandReply(command: Array("get-node-id".utf8)))
            for case .nodeID(let id) in events { return .rainMaker(id) }
            // The deadline ends this for a board that never stops restarting.
            guard !events.contains(.restarted) else { continue }
            switch try await run(ConsoleReplyParser(command: version)) {
            case .answer, .malformed: return .protocomm(sessionID: sessionID)
            case .refused, .nothing: silences += 1
            case .restarted: continue
            }
        }
        return nil
    }
}
