// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO

/// Finds out what the board at a port takes: commands of one dialect or another, or none.
///
/// Empty lines and harmless commands are typed, and meanwhile its log is read. A board that has said what it is called and shows no prompt
/// takes no commands: so do most boards on the chip's own USB, which only prints. One that says nothing of itself is restarted once, if the
/// port can do that, since its words may have gone by before anybody listened.
struct SerialProbe: Sendable {
    enum Finding: Sendable {
        case console(ConsoleDialect)
        /// It takes its Wi-Fi by Improv.
        case improv
        /// What its log had to say has got lost, and it is not restarted over the port's lines: opening the port anew restarts some boards.
        case incomplete
        /// It prints its log, and that is what it said.
        case logOnly(DeviceSummary)
    }

    /// How long a console may take to answer an empty line once the application has come so far that it names its service.
    static let patience = Duration.milliseconds(1500)
    /// The same on the chip's own USB, which stock firmware takes no commands from.
    static let patienceOverUSB = Duration.milliseconds(500)
    /// The code is printed right behind the service's name; firmware that prints none is not waited for longer.
    static let patienceWithoutCode = Duration.seconds(3)
    /// A boot loader that found no application in one partition may find it in the next.
    static let patienceWithoutApplication = Duration.milliseconds(700)
    /// Other firmware may speak Improv, and an image with a wrong checksum may start after all.
    static let patienceWithOtherFirmware = Duration.seconds(3)
    /// An adapter returns in a millisecond what is sent into it if its lines are connected.
    static let patienceWithLoopback = Duration.seconds(1)
    /// Three starts may have been a person's: an application has named its service by then, or crashed once more.
    static let patienceInLoops = Duration.seconds(3)
    /// A console has shown its prompt by then, if the board has not just begun to boot: others are asked whether they speak Improv.
    static let patienceWithoutPrompt = Duration.milliseconds(500)
    /// A board that boots does not hear the first of them.
    static let timeBetweenQuestions = Duration.milliseconds(900)
    /// A running board that is silent for so long is restarted: it has said what it had to say.
    static let patienceInSilence = Duration.seconds(3)

    let console: CommandConsole
    let log: DeviceLog
    /// Fed with everything that is read from the port.
    let inbox: ImprovInbox
    let isOwnUSB: Bool
    let timer: any Clock<Duration>
    let now: @Sendable () -> Duration
    /// Whether the port may be opened anew for a log that was not complete.
    var mayReopen = true
    /// When a port from which not a byte has come is given up, by ``now``; nil where the console's own deadline ends that.
    var silentUntil: Duration?
    /// Whether another program types into the port as well, to see whether it is a modem's.
    var isProbedForModem: @Sendable () -> Bool = { false }

    func find() async throws(ProvisioningError) -> Finding {
        let began = now()
        let answer = await race(against: { try await listen(since: began) }) {
            () async throws(ProvisioningError) in try await console.dialect()
        }
        if inbox.hasHeard { return .improv }
        if console.port.isLoopback { throw loopback }
        switch answer {
        case .success(let dialect)?: return .console(dialect)
        case .failure(let error)?:
            // The prompt, or the end of the time, came while the log had named the board already.
            guard error.code == .unavailable, log.moment.decided != nil else { throw diagnosed(error) }
            return .logOnly(log.moment.summary)
        case nil where !log.moment.hasHeard:
            throw diagnosed(
                ProvisioningError(
                    .unavailable, message: "Nothing came from \(console.port.path) in time.", remedies: [.moreTime]))
        case nil: return mayReopen && Self.isIncomplete(log.moment.summary) ? .incomplete : .logOnly(log.moment.summary)
        }
    }

    /// Returns once it is clear that the board takes no commands.
    private func listen(since began: Duration) async throws {
        var hasRestarted = false
        var nextQuestion = began + Self.patienceWithoutPrompt
        while !inbox.hasHeard {
            let moment = log.moment
            let time = now()
            if let silentUntil, time >= silentUntil, !moment.hasHeard { return }
            if console.port.isLoopback, time - began >= Self.patienceWithLoopback { return }
            // A console that reads this finds no line's end in it, and takes the next empty line's with it for an unknown command.
            if !moment.hasPrompt,
                time >= nextQuestion || moment.decided != nil && nextQuestion == began + Self.patienceWithoutPrompt
            {
                nextQuestion = time + Self.timeBetweenQuestions
                // A port that takes nothing is the console's error.
                try? await console.port.write(ImprovFrame.command(.state)!.encoded.dropLast())
            }
            if !moment.hasPrompt, moment.failsToStart { return }
            if !moment.hasPrompt, let decided = moment.decided {
                if time - max(decided, began) >= patience(for: moment) {
                    // The code's line may have got lost: it is printed at every start. And BOOT may not be held any more.
                    let mayHelp = Self.isIncomplete(moment.summary) || moment.summary.verdict == .downloadMode
                    guard mayHelp, !hasRestarted else { return }
                    hasRestarted = true
                    guard await restarts() else { return }
                }
            } else if !hasRestarted, !moment.hasPrompt, time - began >= Self.patienceInSilence {
                // Where the lines cannot be moved, a person may press the button.
                hasRestarted = true
                _ = await restarts()
            }
            try await timer.sleep(for: .milliseconds(50))
        }
    }

    /// Whether it runs a provisioning service and has not yet logged how to reach it.
    private static func isIncomplete(_ summary: DeviceSummary) -> Bool {
        guard summary.serviceName != nil else { return summary.isUnnamed }
        return summary.code == nil && summary.announcedProof == nil && !summary.isProvisioned
    }

    /// Whether the port has lines by which a board is restarted.
    private func restarts() async -> Bool {
        do {
            try await console.port.move(isOwnUSB ? .restartOverUSB : .restart) { try await timer.sleep(for: $0) }
            return true
        } catch {
            return false
        }
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

    private var loopback: ProvisioningError {
        ProvisioningError(
            .unavailable,
            message:
                "Everything that is sent to \(console.port.path) comes back unchanged: a loopback plug connects the lines TX and RX of this "
                + "port, and no board is there.", reason: "loopback", remedies: [.port([])])
    }

    /// The same error with the cause that the log names, or what else is known of the port.
    private func diagnosed(_ error: ProvisioningError) -> ProvisioningError {
        let path = console.port.path
        let moment = log.moment
        var told = error
        if error.code == .cancelled {
            told.unfinished =
                moment.hasHeard
                ? "what \(path) prints names no board yet, and no console answers" : "not a byte has come from \(path)"
        }
        guard error.code == .unavailable else { return told }
        told.cause = error.message
        if let trouble = moment.summary.verdict {
            (told.message, told.reason, told.remedies) = (trouble.description, trouble.code, trouble.remedies)
        } else if isProbedForModem() {
            told.reason = "modem_manager"
            told.message =
                "Nothing at \(path) shows a console's prompt, or a log that names a board, and ModemManager types into the port as if it were "
                + "a modem's. A udev rule with ENV{ID_MM_DEVICE_IGNORE}=\"1\" for its adapter keeps it away; replug the board then."
        } else if !moment.hasHeard {
            told.reason = "silent_port"
            told.message =
                "Not a byte came from \(path), though the board was told to restart. Check that the cable carries data and that it is in the "
                + "connector that the firmware prints to, press RESET, or use another transport."
        } else if !moment.summary.isESP, !moment.hasPrompt {
            told.reason = "not_a_board"
            told.message =
                "What comes from \(path) is not the log of a board that can be provisioned: it may be another device's port."
            told.remedies = [.port([])]
        } else if moment.summary.isESP, !moment.hasPrompt {
            told.reason = "no_provisioning"
            let name = moment.summary.project.map { " \"\($0)\"" } ?? ""
            told.message =
                "The firmware\(name) of the board at \(path) starts, and neither names a provisioning service nor shows a console's prompt. It "
                + "may have no provisioning, or log to another connector."
            told.remedies = [.boardLog, .anyOtherTransport]
        }
        return told
    }
}
