// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import RainIO
import Synchronization

/// Finds out which commands the board at a port accepts, if any.
///
/// It sends empty lines and harmless commands, and reads the log meanwhile. A board that has printed its name and shows no prompt accepts
/// no commands. That applies to most boards on the chip's own USB, which only prints. A board that prints nothing about itself is restarted
/// once, if the port can do that, because its output may have come before the port was open.
struct SerialProbe: Sendable {
    enum Finding: Sendable {
        case console(ConsoleDialect)
        /// The board accepts its Wi-Fi settings by Improv.
        case improv
        /// A part of the log was lost, and the board is not restarted over the port's lines. Opening the port again restarts some boards.
        case incomplete
        /// The board prints its log, which contained this.
        case logOnly(DeviceSummary)
        /// Nothing arrives from the port, and its board was found over another transport.
        case elsewhere(FoundBoard)
    }

    /// How long a console may take to answer an empty line once the application has named its service.
    static let patience = Duration.milliseconds(1500)
    /// The same on the chip's own USB, where stock firmware accepts no commands.
    static let patienceOverUSB = Duration.milliseconds(500)
    /// The code is printed directly after the service's name. Firmware that prints none is not waited for any longer.
    static let patienceWithoutCode = Duration.seconds(3)
    /// A boot loader that found no application in one partition may find it in the next.
    static let patienceWithoutApplication = Duration.milliseconds(700)
    /// Other firmware may support Improv, and an image with a wrong checksum may start after all.
    static let patienceWithOtherFirmware = Duration.seconds(3)
    /// An adapter returns its own output in a millisecond if its lines are connected.
    static let patienceWithLoopback = Duration.seconds(1)
    /// A person may have caused three starts: by then an application has named its service, or crashed again.
    static let patienceInLoops = Duration.seconds(3)
    /// A console has shown its prompt by then, unless the board has just begun to boot. After that, boards are asked for Improv.
    static let patienceWithoutPrompt = Duration.milliseconds(500)
    /// A booting board does not receive the first request.
    static let timeBetweenQuestions = Duration.milliseconds(900)
    /// A running board that is silent for this long is restarted, because it will not print its name again.
    static let patienceInSilence = Duration.seconds(3)
    /// After this time without a sign of the board's name, a person is asked to restart the board.
    static let patienceBeforeAdvice = Duration.milliseconds(1500)

    let console: CommandConsole
    let log: DeviceLog
    /// Receives all input from the port.
    let inbox: ImprovInbox
    let isOwnUSB: Bool
    let timer: any Clock<Duration>
    let now: @Sendable () -> Duration
    /// Whether the port may be opened again if the log is incomplete.
    var mayReopen = true
    /// When a port without any input is given up, by ``now``; nil if the console's own deadline ends that.
    var silentUntil: Duration?
    /// Whether a person may restart the board, so that a silent port is not given up before ``silentUntil``.
    var waitsForPerson = false
    /// Handles a port without a sign of its board; nil if only the probe's own time limits apply.
    var silence: SilentPort?
    /// Whether another program also writes to the port, to find out whether it is a modem's.
    var isProbedForModem: @Sendable () -> Bool = { false }
    /// The other programs that have the port open.
    var holders: @Sendable () -> [PortHolder] = { [] }

    func find() async throws(BoardError) -> Finding {
        let began = now()
        let answer = await race(against: { try await listen(since: began) }) {
            () async throws(BoardError) in try await dialect()
        }
        if inbox.hasHeard { return .improv }
        if console.port.isLoopback { throw loopback }
        if answer == nil, Self.needsRestart(log.moment), let board = silence?.board(at: now()) {
            return .elsewhere(board)
        }
        switch answer {
        case .success(let dialect)?: return .console(dialect)
        case .failure(let error)?:
            // The prompt, or the end of the time, came when the log had already named the board.
            guard error.code == .unavailable, log.moment.decided != nil else { throw diagnosed(error) }
            return .logOnly(log.moment.summary)
        case nil where !log.moment.hasHeard:
            throw diagnosed(
                BoardError(
                    .unavailable, message: "No data arrived from \(console.port.path) in time.", remedies: [.moreTime]))
        case nil: return mayReopen && Self.isIncomplete(log.moment.summary) ? .incomplete : .logOnly(log.moment.summary)
        }
    }

    /// Finds the console's protocol. While nothing arrives and a person may restart the board, this begins again.
    private func dialect() async throws(BoardError) -> ConsoleDialect {
        while true {
            do throws(BoardError) {
                return try await console.dialect()
            } catch {
                guard waitsForPerson, error.reason == "no_prompt", Self.needsRestart(log.moment), let silentUntil,
                    now() < silentUntil
                else { throw error }
            }
        }
    }

    /// Returns once it is clear that the board accepts no commands.
    private func listen(since began: Duration) async throws {
        var hasRestarted = false
        var nextQuestion = began + Self.patienceWithoutPrompt
        while !inbox.hasHeard {
            let moment = log.moment
            let time = now()
            let needsRestart = Self.needsRestart(moment)
            if let silentUntil, time >= silentUntil, !moment.hasHeard || waitsForPerson && needsRestart { return }
            if needsRestart, time - began >= Self.patienceBeforeAdvice {
                silence?.report(console.port.path, isSilent: !moment.hasHeard)
                if silence?.board(at: time) != nil { return }
            }
            if console.port.isLoopback, time - began >= Self.patienceWithLoopback { return }
            // A console sees no line end in this, and treats it as an unknown command together with the next empty line.
            if !moment.hasPrompt,
                time >= nextQuestion || moment.decided != nil && nextQuestion == began + Self.patienceWithoutPrompt
            {
                nextQuestion = time + Self.timeBetweenQuestions
                // A failed write to the port is the console's error.
                try? await console.port.write(ImprovFrame.command(.state)!.encoded.dropLast())
            }
            if !moment.hasPrompt, moment.failsToStart { return }
            if !moment.hasPrompt, let decided = moment.decided {
                if time - max(decided, began) >= patience(for: moment) {
                    // A restart may help: the line with the code may have been lost, BOOT may no longer be held, and a service that has
                    // ended starts again.
                    let verdict = moment.summary.verdict
                    let mayHelp =
                        Self.isIncomplete(moment.summary) || verdict == .downloadMode || verdict?.endsService == true
                    guard mayHelp, !hasRestarted else { return }
                    hasRestarted = true
                    guard await restarts() else { return }
                }
            } else if !hasRestarted, !moment.hasPrompt, time - began >= Self.patienceInSilence {
                // If the lines cannot be changed, a person may press the button.
                hasRestarted = true
                _ = await restarts()
            }
            try await timer.sleep(for: .milliseconds(50))
        }
    }

    /// Whether nothing has named the board, and its start was not heard: it may have started before the port was open.
    private static func needsRestart(_ moment: DeviceLog.Moment) -> Bool {
        guard !moment.hasPrompt, moment.decided == nil, moment.summary.starts == 0 else { return false }
        return !moment.hasHeard || moment.summary.isESP
    }

    /// Whether the board runs a provisioning service and has not yet logged its transport.
    private static func isIncomplete(_ summary: DeviceSummary) -> Bool {
        guard summary.serviceName != nil else { return summary.isUnnamed }
        return summary.code == nil && summary.announcedProof == nil && !summary.isProvisioned
    }

    /// Whether the port has lines that restart a board. It may be removed as soon as they have moved, so this is reported at once.
    private func restarts() async -> Bool {
        let (silence, path, now, timer) = (silence, console.port.path, now, timer)
        let hasMoved = Atomic(false)
        try? await console.port.move(isOwnUSB ? .restartOverUSB : .restart) { pause in
            if !hasMoved.exchange(true, ordering: .relaxed) { silence?.restarted(path, at: now()) }
            try await timer.sleep(for: pause)
        }
        let isDone = hasMoved.load(ordering: .relaxed)
        if !isDone { silence?.cannotRestart() }
        return isDone
    }

    private func patience(for moment: DeviceLog.Moment) -> Duration {
        let summary = moment.summary
        if summary.serviceName != nil || summary.isUnnamed, summary.code == nil { return Self.patienceWithoutCode }
        if summary.isDown {
            switch summary.verdict {
            case .otherFirmware, .damagedImage: return Self.patienceWithOtherFirmware
            default: break
            }
            let isKnown = summary.troubles.contains { $0.isFatal && !$0.isLoop }
            return isKnown ? Self.patienceWithoutApplication : Self.patienceInLoops
        }
        return isOwnUSB ? Self.patienceOverUSB : Self.patience
    }

    private var loopback: BoardError {
        BoardError(
            .unavailable,
            message:
                "Everything that is sent to \(console.port.path) comes back unchanged. Most likely a loopback plug connects the lines TX "
                + "and RX of this port, and no board is connected.", reason: "loopback", remedies: [.port([])])
    }

    /// Returns the same error with the cause that the log shows, or with other facts about the port.
    private func diagnosed(_ error: BoardError) -> BoardError {
        let path = console.port.path
        let moment = log.moment
        var told = error
        if error.code == .cancelled {
            told.unfinished =
                if console.port.isGone {
                    "the port \(path) was removed and has not returned"
                } else if moment.hasHeard {
                    "no board was found at \(path): its output does not name a board, and no console answers"
                } else {
                    "no data has arrived from \(path)"
                }
        }
        guard error.code == .unavailable else { return told }
        told.cause = error.message
        if let trouble = moment.summary.verdict {
            (told.message, told.reason, told.remedies) = (trouble.description, trouble.code, trouble.remedies)
        } else if case let others = holders().filter({ !$0.isModemManager }), !others.isEmpty {
            told = .shared(path, with: others)
            told.cause = error.message
        } else if isProbedForModem() {
            told.reason = "modem_manager"
            told.message =
                "Neither a console prompt nor a board's log appeared at \(path), and ModemManager treats the port as a modem and writes to it. To keep ModemManager away, add a udev rule with ENV{ID_MM_DEVICE_IGNORE}=\"1\" for the board's adapter. Then unplug the board and plug it in again."
        } else if !moment.hasHeard {
            told.reason = "silent_port"
            let restart =
                switch silence?.restart {
                case .done?: ", although the board was restarted through the lines DTR and RTS"
                case .impossible?:
                    ", and this port has no lines that restart a board: press RESET, or unplug the board and plug it in again"
                case .none?, nil: ""
                }
            told.message =
                "No data arrived from \(path)\(restart). Check that the cable carries data. Use the connector on which the firmware prints "
                + "its log."
            let names = silence?.names ?? []
            told.remedies = names.isEmpty ? [.anyOtherTransport] : [.boardName(names)]
        } else if error.reason == "no_prompt", moment.hasPrompt, moment.summary.starts <= 1 {
            // A console shows its prompt after each command.
            told.message = BoardError.lostCharacters
        } else if !moment.summary.isESP, !moment.hasPrompt {
            told.reason = "not_a_board"
            // Only an ESP chip has this USB device.
            let (what, advice) =
                isOwnUSB
                ? ("The board at \(path) runs other firmware", "Flash firmware")
                : (
                    "Another device, or a board with other firmware, is at \(path)",
                    "If it is a board, flash firmware"
                )
            told.message =
                "\(what): its output does not look like the log of a board that can be provisioned. \(advice) with RainMaker or ESP-IDF's "
                + "network provisioning."
            told.remedies = [.port([])]
        } else if moment.summary.isESP, !moment.hasPrompt {
            told.reason = "no_provisioning"
            let name = moment.summary.project.map { " \"\($0)\"" } ?? ""
            told.message =
                "The firmware\(name) of the board at \(path) starts, but its output has no name of a provisioning service and no console "
                + "prompt. The board may be set up already: look for it in your account. To set it up again, hold its BOOT button for 3 s. "
                + "Otherwise the firmware may not support provisioning, or may print its log on another connector."
            told.remedies = [.boardLog, .anyOtherTransport]
        }
        return told
    }
}
