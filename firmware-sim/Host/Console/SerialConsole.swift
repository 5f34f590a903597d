// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import Glibc
import ProtocommCore
import RainCrypto
import RainJSON

/// The board's UART on a pty: boot log at the first open, echo and replies of the dialect, and log lines in between.
final class SerialConsole: EventSource {
    /// How often a closed pty is checked, because no event reports that it was opened.
    private static let openingInterval: UInt64 = 10
    /// How long a chip that leaves the USB bus stays away.
    private static let timeAway: UInt64 = 330
    /// The maximum number of bytes that are kept for a reader that does not read.
    private static let outputLimit = 1 << 16

    private let board: Board
    private let port: ConsolePort
    private(set) var link: String
    private var terminal: PseudoTerminal
    private let faults: ConsoleFaults
    private var random: BoardRandom
    private var outgoing: SerialWire
    private var incoming: SerialWire
    private var load = WireLoad()
    /// The bytes on the wire to the board, and their arrival times.
    private var underway: [(due: UInt64, bytes: [UInt8])] = []
    private var unplugDue: UInt64?
    private var plugDue: UInt64?
    private let bootLog: BootLog
    private let bootDelay: UInt64
    private let startsAnew: Bool
    /// Nil for a port without lines.
    private var lines: SimulatedModemLines?
    private let newInput: () -> any ConsoleInput
    private var input: any ConsoleInput
    private let commands: any ConsoleCommands
    private var noise: LogNoise
    private var log = BoardLog(bootTime: 0)
    private var isUnplugged = false
    private var isOpen = false
    private var hasBooted = false
    /// When the application starts; nil if it has started, or never does.
    private var bootDue: UInt64?
    private var isWaiting = false
    private var isStopped = false
    private var output: [UInt8] = []
    /// The output for the moment when the application has started.
    private var pending: [UInt8] = []
    private var noiseDue: UInt64?

    init(
        _ port: ConsolePort, _ options: ListeningOptions, qrCode: JSONValue, board: Board, noise: LogNoise
    ) throws {
        let dialect = options.consoleDialect
        self.board = board
        self.port = port
        link = try port.plug()
        terminal = try PseudoTerminal(link: link)
        faults = options.faults
        outgoing = SerialWire(baud: faults.baud)
        incoming = SerialWire(baud: faults.baud)
        var noise = noise
        random = noise.fork()
        self.noise = noise
        switch dialect {
        case .protocomm:
            newInput = { ProtocommConsoleInput() }
            commands = ProtocommCommands()
        case .rainmaker:
            newInput = { RainMakerConsoleInput() }
            commands = RainMakerCommands()
        case .improv:
            newInput = { ImprovConsoleInput() }
            commands = ImprovCommands(faults)
        case .logOnly:
            newInput = { SilentConsoleInput() }
            commands = NoCommands()
        }
        input = newInput()
        if options.modemLines { lines = try SimulatedModemLines(beside: link) }
        bootLog = BootLog(
            // Firmware with Improv has no provisioning service to log.
            style: dialect == .improv && options.bootLog == .switch ? .plain : options.bootLog,
            identity: board.identity, qrCode: qrCode, hasConsole: dialect == .rainmaker || dialect == .logOnly,
            isSecurity2: board.core.configuration.security.rawValue == 2)
        bootDelay = UInt64(options.bootDelay * 1000)
        startsAnew = options.resetOnOpen
        if options.alreadyRunning { (hasBooted, log.bootTime) = (true, MonotonicClock.now) }
        board.observe { [weak self] event in
            guard let self else { return }
            print(log.lines(for: event, address: String(decoding: board.core.machine.radio.address, as: UTF8.self)))
            print(commands.announcement(of: event, board: board))
            if faults.replugsOnSuccess, case .joined = event { unplugDue = MonotonicClock.now }
            // The protocomm console ends with the service; RainMaker's own console stays.
            if event == .serviceStopped, dialect == .protocomm { stopListening() }
        }
    }

    /// Adds a line to the board's log.
    func say(_ tag: String, _ text: String) { print(log.line(.info, tag, text)) }

    // MARK: The loop

    var interests: [Interest] {
        let ofLines = lines.map { [Interest(descriptor: $0.descriptor, events: Int16(POLLIN))] } ?? []
        guard isOpen else { return ofLines }
        let hasRoom = !output.isEmpty && faults.baud == nil
        return [Interest(descriptor: terminal.descriptor, events: Int16(hasRoom ? POLLIN | POLLOUT : POLLIN))] + ofLines
    }

    var due: UInt64? {
        if let plugDue { return plugDue }
        guard isOpen else { return MonotonicClock.now + Self.openingInterval }
        let writing = output.isEmpty ? nil : outgoing.due
        return [noiseDue, bootDue, unplugDue, underway.first?.due, writing].compactMap(\.self).min()
    }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {
        if let lines, lines.descriptor == descriptor {
            if lines.releasesReset() { reset(now: now) }
            return
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(terminal.descriptor, &buffer, buffer.count)
        if count > 0 {
            underway.append((incoming.arrival(of: count, now: now), Array(buffer[..<count])))
            load.add(incoming.last)
            takeArrived(now: now)
        } else if count == 0 || errno == EIO {
            isOpen = false
            output = []
        }
        flush()
    }

    func wake(now: UInt64) {
        // Also for a closed port: then the answer is lost, and is not sent as the answer to the next command.
        if isWaiting { finishCommand(commands.resume(board: board, log: log)) }
        if let plugDue {
            guard plugDue <= now, let place = try? port.plug(), let again = try? PseudoTerminal(link: place) else {
                return
            }
            (link, terminal, self.plugDue) = (place, again, nil)
            if lines != nil { lines = try? SimulatedModemLines(beside: place) }
        }
        if !isOpen, terminal.isOpen { opened(now: now) }
        guard isOpen else { return }
        if let unplugDue, unplugDue <= now {
            terminal.unplug()
            port.unplug()
            lines?.remove()
            (isOpen, output, underway) = (false, [], [])
            (self.unplugDue, plugDue) = (nil, now + Self.timeAway)
            return
        }
        takeArrived(now: now)
        if let bootDue, bootDue <= now { comeUp(now: now) }
        if let noiseDue, noiseDue <= now {
            print(noise.burst(log, now: now))
            self.noiseDue = noise.pause().map { now + $0 }
        }
        flush()
    }

    func shutDown() {
        guard !isUnplugged else { return }
        (isUnplugged, isOpen) = (true, false)
        if plugDue == nil {
            terminal.unplug()
            lines?.remove()
        }
        port.remove()
    }

    private func takeArrived(now: UInt64) {
        while let first = underway.first, first.due <= now {
            underway.removeFirst()
            // The UART driver starts with the application.
            if !isStopped, isUp { input.receive(first.bytes) }
            proceed()
        }
    }

    /// The chip starts again, and its own USB leaves the bus meanwhile.
    private func reset(now: UInt64) {
        board.step { $0.restart() }
        (output, pending, underway) = ([], [], [])
        (hasBooted, isWaiting, isStopped, input) = (false, false, false, newInput())
        guard isOpen else { return }
        if port.leavesBusOnReset { unplugDue = now } else { opened(now: now) }
    }

    private func opened(now: UInt64) {
        isOpen = true
        if !hasBooted { unplugDue = faults.replug.map { now + $0 } }
        noiseDue = bootLog.style.comesUp ? noise.pause().map { now + $0 } : nil
        guard !hasBooted || startsAnew else { return }
        // Events from before the first open are logged after the boot log.
        let earlier = hasBooted ? [] : output
        hasBooted = true
        log.bootTime = now
        output = faults.applied(to: bootLog.rom, &random)
        if bootDelay > 0 || !bootLog.style.comesUp {
            (bootDue, pending) = (now + bootDelay, earlier)
        } else {
            bootDue = nil
            output += faults.applied(to: bootLog.rest(log) + earlier, &random) + input.greeting
        }
    }

    /// Whether the application listens. An application that crashes never does.
    private var isUp: Bool { hasBooted && bootDue == nil && bootLog.style.comesUp }

    /// The application has started, or the board starts again from its reset.
    private func comeUp(now: UInt64) {
        bootDue = nil
        print(bootLog.rest(log))
        guard !bootLog.style.comesUp else {
            print(pending + input.greeting)
            pending = []
            return
        }
        // A chip without firmware is restarted by its watchdog. One that waits for firmware, or uses another speed, prints nothing more.
        guard bootLog.style != .download, bootLog.style != .unreadable else { return }
        bootDue = now + max(bootDelay, 400)
        log.bootTime = now
        print(bootLog.rom)
    }

    // MARK: Commands

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

    // MARK: Output

    private func print(_ bytes: [UInt8]) {
        // While the cable is unplugged, output is lost. Before the first open the board is switched off.
        guard isOpen || !hasBooted, output.count + bytes.count <= Self.outputLimit else { return }
        output += faults.applied(to: bytes, &random)
    }

    private func flush() {
        guard isOpen, !output.isEmpty else { return }
        let room = outgoing.room(for: output.count, now: MonotonicClock.now)
        let count = output.withUnsafeBytes { write(terminal.descriptor, $0.baseAddress, room) }
        guard count > 0 else { return }
        output.removeFirst(count)
        load.add(outgoing.last)
        guard output.isEmpty, faults.baud != nil else { return }
        board.journal.write(
            "wire",
            [
                .init("received", .integer(Int64(incoming.bytes))), .init("sent", .integer(Int64(outgoing.bytes))),
                .init("busy_ms", .integer(Int64(load.busy / 1000))),
            ])
    }
}

/// The reading half of a console task, as a value: bytes from the wire in, echo and command lines out.
protocol ConsoleInput {
    /// The board's output when the task starts.
    var greeting: [UInt8] { get }
    /// Takes the bytes in the UART's buffer at one moment. Their grouping matters to the firmware.
    mutating func receive(_ chunk: [UInt8])
    /// Returns the next step; nil if more bytes are needed, or while a command runs.
    mutating func next() -> ConsoleStep?
    /// Reports that the command of the last step is done.
    mutating func finish()
}

enum ConsoleStep: Equatable {
    case write([UInt8])
    /// Run these words, then call ``ConsoleInput/finish()``.
    case run([[UInt8]])
}

enum ConsoleText {
    static let prompt = Array("\n>> ".utf8)
    static let lineEnd = Array("\r\n".utf8)
    /// The line end by `printf`, whose LF the C library turns into CR LF.
    static let printedLineEnd = Array("\r\r\n".utf8)
    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A
    /// The maximum number of bytes that wait while a command runs: more than any line, but limited.
    static let backlogLimit = 4096
}

/// The commands of a dialect.
protocol ConsoleCommands {
    func run(_ words: [[UInt8]], board: Board, log: BoardLog) -> CommandOutcome
    /// Called again while a command is ``CommandOutcome/later``.
    func resume(board: Board, log: BoardLog) -> CommandOutcome
    /// Returns the output for an event, besides the log's lines.
    func announcement(of event: DeviceEvent, board: Board) -> [UInt8]
}

extension ConsoleCommands {
    func announcement(of event: DeviceEvent, board: Board) -> [UInt8] { [] }
}

enum CommandOutcome: Equatable {
    case output([UInt8])
    /// Each is a separate call, so that other tasks' log may come in between.
    case pieces([[UInt8]])
    /// A blocking handler occupies the console's task.
    case later
}

/// A port that the firmware prints to but does not read from: input is ignored, and nothing is echoed.
private struct SilentConsoleInput: ConsoleInput {
    let greeting: [UInt8] = []
    mutating func receive(_ chunk: [UInt8]) {}
    mutating func next() -> ConsoleStep? { nil }
    mutating func finish() {}
}

/// The commands of such a port.
private struct NoCommands: ConsoleCommands {
    func run(_ words: [[UInt8]], board: Board, log: BoardLog) -> CommandOutcome { .output([]) }
    func resume(board: Board, log: BoardLog) -> CommandOutcome { .output([]) }
}

/// The time that bytes take on a wire with a speed, in one direction: ten bits a byte.
private struct SerialWire {
    private let bytesPerSecond: UInt64?
    /// When the wire is free again, in microseconds.
    private var free: UInt64 = 0
    /// When the transmission of the last bytes began and ended, in microseconds.
    private(set) var last: Range<UInt64> = 0..<0
    /// The number of transmitted bytes.
    private(set) var bytes = 0

    /// - Parameter baud: nil for a wire that takes no time.
    init(baud: Int?) { bytesPerSecond = baud.map { UInt64($0) / 10 } }

    /// Returns when bytes that are sent now arrive, in milliseconds of the loop's clock.
    mutating func arrival(of count: Int, now: UInt64) -> UInt64 {
        guard let bytesPerSecond else { return now }
        carry(count, bytesPerSecond, from: max(free, now * 1000))
        return (free + 999) / 1000
    }

    /// Returns how many of the bytes may be sent now, so that the wire is never more than one millisecond ahead.
    mutating func room(for count: Int, now: UInt64) -> Int {
        guard let bytesPerSecond else { return count }
        guard free <= now * 1000 else { return 0 }
        let room = min(count, max(1, Int(bytesPerSecond / 500)))
        carry(room, bytesPerSecond, from: max(free, now * 1000 - 1000))
        return room
    }

    private mutating func carry(_ count: Int, _ bytesPerSecond: UInt64, from start: UInt64) {
        free = start + UInt64(count) * 1_000_000 / bytesPerSecond
        last = start..<free
        bytes += count
    }

    /// When more bytes may be sent.
    var due: UInt64? { bytesPerSecond == nil ? nil : (free + 999) / 1000 }
}

/// How long a wire with two directions was in use. An echo during the input of a command counts once.
private struct WireLoad {
    /// In microseconds.
    private(set) var busy: UInt64 = 0
    private var end: UInt64 = 0

    mutating func add(_ span: Range<UInt64>) {
        guard span.upperBound > end else { return }
        busy += span.upperBound - max(span.lowerBound, end)
        end = span.upperBound
    }
}

/// The faults between the board and the client's port.
struct ConsoleFaults {
    /// Fractions of the lines and bytes that are lost, or come twice.
    var droppedLines = 0.0
    var doubledLines = 0.0
    var droppedBytes = 0.0
    var doubledBytes = 0.0
    /// Log lines of other tasks per second, instead of one every two seconds.
    var storm = 0
    /// The wire's speed, in baud of ten bits a byte; nil for a pty's own.
    var baud: Int?
    /// Milliseconds from the first opening to the disappearance of the port, which comes back a third of a second later.
    var replug: UInt64?

    /// Faults of Improv, in this order: a result without an address; the result before the state; no result on success. Then a port that
    /// disappears on success; a board that accepts no more settings; a board that accepts none before its button is pressed.
    var hasNoURL = false
    var resultComesFirst = false
    var isSilentOnSuccess = false
    var replugsOnSuccess = false
    var isStopped = false
    var waitsForButton = false

    /// Takes `KEY=VALUE`. Returns false if there is no such fault, or no such value.
    mutating func set(_ text: String) -> Bool {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let number = Double(parts[1]), number >= 0, number <= 10_000_000 else { return false }
        switch parts[0] {
        case "drop-line" where number <= 1: droppedLines = number
        case "double-line" where number <= 1: doubledLines = number
        case "drop-byte" where number <= 1: droppedBytes = number
        case "double-byte" where number <= 1: doubledBytes = number
        case "storm" where number <= 100_000: storm = Int(number)
        case "baud" where number >= 300: baud = Int(number)
        case "replug" where number <= 3600: replug = UInt64(number * 1000)
        case "no-url" where number == 1: hasNoURL = true
        case "result-first" where number == 1: resultComesFirst = true
        case "silent-success" where number == 1: isSilentOnSuccess = true
        case "replug-on-success" where number == 1: replugsOnSuccess = true
        case "stopped" where number == 1: isStopped = true
        case "button" where number == 1: waitsForButton = true
        default: return false
        }
        return true
    }

    /// Returns the bytes that arrive of some lines.
    fileprivate func applied(to bytes: [UInt8], _ random: inout BoardRandom) -> [UInt8] {
        var arrived = bytes
        if droppedLines > 0 || doubledLines > 0 {
            arrived = []
            for line in Self.lines(bytes) {
                // Bytes without an end are part of a line that continues, such as an echo or a prompt.
                let isWhole = line.last == ConsoleText.lineFeed && line.count > 2
                if isWhole, happens(droppedLines, &random) { continue }
                arrived += line
                if isWhole, happens(doubledLines, &random) { arrived += line }
            }
        }
        guard droppedBytes > 0 || doubledBytes > 0 else { return arrived }
        var bytes: [UInt8] = []
        for byte in arrived {
            if happens(droppedBytes, &random) { continue }
            bytes.append(byte)
            if happens(doubledBytes, &random) { bytes.append(byte) }
        }
        return bytes
    }

    private func happens(_ fraction: Double, _ random: inout BoardRandom) -> Bool {
        fraction > 0 && Double(random.number()) < fraction * 4_294_967_296
    }

    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == ConsoleText.lineFeed {
            lines.append(bytes[start...index])
            start = index + 1
        }
        if start < bytes.count { lines.append(bytes[start...]) }
        return lines
    }
}
