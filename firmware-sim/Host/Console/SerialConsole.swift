// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommWire
import Glibc
import RainJSON

/// The board's UART on a pty: boot log at the first open, echo and replies of the dialect, and the log in between.
final class SerialConsole: EventSource {
    /// How often a closed pty is looked at, because no event reports that it was opened.
    private static let openingInterval: UInt64 = 10
    /// What is kept for a reader that does not read.
    private static let outputLimit = 1 << 16

    private let board: Board
    private let terminal: PseudoTerminal
    private let bootLog: BootLog
    private let bootDelay: UInt64
    private let startsAnew: Bool
    private var input: any ConsoleInput
    private let commands: any ConsoleCommands
    private var noise: LogNoise
    private var log = BoardLog(bootTime: 0)
    private var isUnplugged = false
    private var isOpen = false
    private var hasBooted = false
    /// When the application has come up; nil where it has, or never does.
    private var bootDue: UInt64?
    private var isWaiting = false
    private var isStopped = false
    private var output: [UInt8] = []
    /// What is said once the application is up.
    private var pending: [UInt8] = []
    private var noiseDue: UInt64?

    init(
        link: String, _ options: ListeningOptions, qrCode: JSONValue, board: Board, noise: LogNoise
    ) throws {
        let dialect = options.consoleDialect
        self.board = board
        terminal = try PseudoTerminal(link: link)
        self.noise = noise
        switch dialect {
        case .protocomm:
            input = ProtocommConsoleInput()
            commands = ProtocommCommands()
        case .rainmaker:
            input = RainMakerConsoleInput()
            commands = RainMakerCommands()
        case .logOnly:
            input = SilentConsoleInput()
            commands = NoCommands()
        }
        bootLog = BootLog(
            style: options.bootLog, identity: board.identity, qrCode: qrCode, hasConsole: dialect != .protocomm,
            isSecurity2: board.core.configuration.security.rawValue == 2)
        bootDelay = UInt64(options.bootDelay * 1000)
        startsAnew = options.resetOnOpen
        board.observe { [weak self] event in
            guard let self else { return }
            print(log.lines(for: event, address: String(decoding: board.core.machine.radio.address, as: UTF8.self)))
            // The protocomm console goes away with the service; RainMaker's own stays.
            if event == .serviceStopped, dialect == .protocomm { stopListening() }
        }
    }

    /// Adds to the board's log.
    func say(_ tag: String, _ text: String) { print(log.line(.info, tag, text)) }

    // MARK: the loop

    var interests: [Interest] {
        guard isOpen else { return [] }
        return [Interest(descriptor: terminal.descriptor, events: Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT))]
    }

    var due: UInt64? {
        guard isOpen else { return MonotonicClock.now + Self.openingInterval }
        return [noiseDue, bootDue].compactMap(\.self).min()
    }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(terminal.descriptor, &buffer, buffer.count)
        if count > 0 {
            // The driver of the UART comes up with the application.
            if !isStopped, isUp { input.receive(Array(buffer[..<count])) }
            proceed()
        } else if count == 0 || errno == EIO {
            isOpen = false
            output = []
        }
        flush()
    }

    func wake(now: UInt64) {
        // Also for a closed port: the answer is lost then, and not sent as the answer to the next command.
        if isWaiting { finishCommand(commands.resume(board: board, log: log)) }
        if !isOpen, terminal.isOpen { opened(now: now) }
        guard isOpen else { return }
        if let bootDue, bootDue <= now { comeUp(now: now) }
        if let noiseDue, noiseDue <= now {
            print(noise.line(log))
            self.noiseDue = noise.pause().map { now + $0 }
        }
        flush()
    }

    func shutDown() {
        guard !isUnplugged else { return }
        (isUnplugged, isOpen) = (true, false)
        terminal.unplug()
    }

    private func opened(now: UInt64) {
        isOpen = true
        noiseDue = bootLog.style.comesUp ? noise.pause().map { now + $0 } : nil
        guard !hasBooted || startsAnew else { return }
        // Events from before the first open are logged after the boot log.
        let earlier = hasBooted ? [] : output
        hasBooted = true
        log.bootTime = now
        output = bootLog.rom
        if bootDelay > 0 || !bootLog.style.comesUp {
            (bootDue, pending) = (now + bootDelay, earlier)
        } else {
            bootDue = nil
            output += bootLog.rest(log) + earlier + input.greeting
        }
    }

    /// Whether the application listens. One that crashes never does.
    private var isUp: Bool { hasBooted && bootDue == nil && bootLog.style.comesUp }

    /// The application is up, or the board begins again from its reset.
    private func comeUp(now: UInt64) {
        bootDue = nil
        print(bootLog.rest(log))
        guard !bootLog.style.comesUp else {
            print(pending + input.greeting)
            pending = []
            return
        }
        // A chip without firmware restarts by its watchdog; one that waits for firmware, or whose speed is another, says no more.
        guard bootLog.style != .download, bootLog.style != .unreadable else { return }
        bootDue = now + max(bootDelay, 400)
        log.bootTime = now
        print(bootLog.rom)
    }

    // MARK: commands

    private func proceed() {
        while !isWaiting, let step = input.next() {
            switch step {
            case .write(let bytes): print(bytes)
            case .run(let words):
                print(noise.lines(log))
                finishCommand(commands.run(words, board: board, log: log))
            }
        }
    }

    private func finishCommand(_ outcome: CommandOutcome) {
        switch outcome {
        case .later: isWaiting = true
        case .output(let bytes): finishCommand(printing: bytes)
        case .pieces(let pieces): finishCommand(printing: noise.tearing(pieces, log))
        }
    }

    private func finishCommand(printing bytes: [UInt8]) {
        let wasWaiting = isWaiting
        isWaiting = false
        print(bytes)
        print(noise.lines(log))
        input.finish()
        if wasWaiting { proceed() }
    }

    private func stopListening() {
        isStopped = true
        print(log.line(.info, "protocomm_console", "Stopping console..."))
        print(log.line(.info, "protocomm_console", "Console stopped"))
    }

    // MARK: output

    private func print(_ bytes: [UInt8]) {
        // While the cable is unplugged, output is lost. Before the first open the board is not switched on.
        guard isOpen || !hasBooted, output.count + bytes.count <= Self.outputLimit else { return }
        output += bytes
    }

    private func flush() {
        guard isOpen, !output.isEmpty else { return }
        let count = output.withUnsafeBytes { write(terminal.descriptor, $0.baseAddress, $0.count) }
        if count > 0 { output.removeFirst(count) }
    }
}
