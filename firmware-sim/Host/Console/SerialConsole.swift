// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import Glibc
import ProtocommCore
import RainJSON

/// The board's UART on a pty: boot log at the first open, echo and replies of the dialect, and the log in between.
final class SerialConsole: EventSource {
    /// How often a closed pty is looked at, because no event reports that it was opened.
    private static let openingInterval: UInt64 = 10
    /// How long a chip that leaves the USB bus stays away.
    private static let timeAway: UInt64 = 330
    /// What is kept for a reader that does not read.
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
    /// What is still on the wire to the board, and when it has arrived.
    private var underway: [(due: UInt64, bytes: [UInt8])] = []
    private var unplugDue: UInt64?
    private var plugDue: UInt64?
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
            input = ProtocommConsoleInput()
            commands = ProtocommCommands()
        case .rainmaker:
            input = RainMakerConsoleInput()
            commands = RainMakerCommands()
        case .improv:
            input = ImprovConsoleInput()
            commands = ImprovCommands(faults)
        case .logOnly:
            input = SilentConsoleInput()
            commands = NoCommands()
        }
        bootLog = BootLog(
            // Firmware with Improv has no provisioning service to tell of.
            style: dialect == .improv && options.bootLog == .switch ? .plain : options.bootLog,
            identity: board.identity, qrCode: qrCode, hasConsole: dialect == .rainmaker || dialect == .logOnly,
            isSecurity2: board.core.configuration.security.rawValue == 2)
        bootDelay = UInt64(options.bootDelay * 1000)
        startsAnew = options.resetOnOpen
        board.observe { [weak self] event in
            guard let self else { return }
            print(log.lines(for: event, address: String(decoding: board.core.machine.radio.address, as: UTF8.self)))
            print(commands.announcement(of: event, board: board))
            if faults.replugsOnSuccess, case .joined = event { unplugDue = MonotonicClock.now }
            // The protocomm console goes away with the service; RainMaker's own stays.
            if event == .serviceStopped, dialect == .protocomm { stopListening() }
        }
    }

    /// Adds to the board's log.
    func say(_ tag: String, _ text: String) { print(log.line(.info, tag, text)) }

    // MARK: the loop

    var interests: [Interest] {
        guard isOpen else { return [] }
        let hasRoom = !output.isEmpty && faults.baud == nil
        return [Interest(descriptor: terminal.descriptor, events: Int16(hasRoom ? POLLIN | POLLOUT : POLLIN))]
    }

    var due: UInt64? {
        if let plugDue { return plugDue }
        guard isOpen else { return MonotonicClock.now + Self.openingInterval }
        let writing = output.isEmpty ? nil : outgoing.due
        return [noiseDue, bootDue, unplugDue, underway.first?.due, writing].compactMap(\.self).min()
    }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {
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
        // Also for a closed port: the answer is lost then, and not sent as the answer to the next command.
        if isWaiting { finishCommand(commands.resume(board: board, log: log)) }
        if let plugDue {
            guard plugDue <= now, let place = try? port.plug(), let again = try? PseudoTerminal(link: place) else {
                return
            }
            (link, terminal, self.plugDue) = (place, again, nil)
        }
        if !isOpen, terminal.isOpen { opened(now: now) }
        guard isOpen else { return }
        if let unplugDue, unplugDue <= now {
            terminal.unplug()
            port.unplug()
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
        if plugDue == nil { terminal.unplug() }
        port.remove()
    }

    private func takeArrived(now: UInt64) {
        while let first = underway.first, first.due <= now {
            underway.removeFirst()
            // The driver of the UART comes up with the application.
            if !isStopped, isUp { input.receive(first.bytes) }
            proceed()
        }
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
