// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The board's end of a command console on a pty: echoes what is typed, runs each line, prints the prompt.
///
/// Follows `protocomm_console.c` and `rmaker_console.c` to the byte: the echo leaves as the bytes arrive, CR is echoed as
/// CR LF, only CR ends a line, and the prompt is written raw.
public final class EchoingConsole: Sendable {
    public let terminal: PseudoTerminal
    private let run: @Sendable (String) -> String?
    private let interruptEcho: @Sendable (_ line: Int, _ position: Int) -> String?
    private let lines = Mutex<[String]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// The lines that were typed, without CR.
    public var typed: [String] { lines.withLock { $0 } }

    /// - Parameters:
    ///   - firstPrompt: `protocomm_console` prints one at start, RainMaker's console only after the first line.
    ///   - interruptEcho: what another task logs before that byte of the echo, by the number of the line and the position.
    ///   - run: what the line prints; nil goes silent for good.
    public init(
        firstPrompt: Bool = true,
        interruptEcho: @escaping @Sendable (_ line: Int, _ position: Int) -> String? = { _, _ in nil },
        run: @escaping @Sendable (String) -> String?
    ) throws {
        terminal = try PseudoTerminal()
        terminal.switchOffEcho()
        self.run = run
        self.interruptEcho = interruptEcho
        let served = Task { [weak self, terminal] in
            if firstPrompt { await terminal.send("\n>> ") }
            var line: [UInt8] = []
            var number = 0
            while !Task.isCancelled {
                for byte in await terminal.receive() {
                    guard let self else { return }
                    if let log = self.interruptEcho(number, line.count) { await terminal.send(log) }
                    await terminal.send(byte == 0x0D ? [0x0D, 0x0A] : [byte])
                    guard byte == 0x0D else {
                        line.append(byte)
                        continue
                    }
                    let text = String(decoding: line, as: UTF8.self)
                    line = []
                    number += 1
                    self.lines.withLock { $0.append(text) }
                    guard let output = self.run(text) else { return }
                    await terminal.send(output + "\n>> ")
                }
            }
        }
        task.withLock { $0 = served }
    }

    public func stop() { task.withLock { $0?.cancel() } }
    deinit { stop() }
}
