// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainIO

extension ProtocommBoard {
    /// Sends the settings and applies them. A board that still remembers a failed attempt is reset first, once, and gets the settings
    /// again, because Apply discards them even if the board refuses it.
    ///
    /// If the answer to an Apply is lost, it is unknown whether the board accepted it. Then settings and Apply are sent again in a new
    /// session. If a board that has not failed refuses this Apply, it accepted the first one. If no session is possible any more, the board
    /// has most likely left for its network: `mayBeJoining`.
    ///
    /// A board that refuses both Apply and reset is joining an earlier network, or has joined it. This waits for the result.
    public func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) {
        try network.checkIsPassphrase()
        if identity?.joinsThreadOnly == true { throw .joinsThread(peer) }
        lastAnswer = time.elapsed()
        do throws(BoardError) {
            try await take(network, report: report)
        } catch {
            // An answer takes at most a second if nothing is wrong.
            throw time.elapsed() - lastAnswer > .seconds(2) ? error.unfinished(silent: peer, nil) : error
        }
    }

    private func take(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) {
        var doubt: Doubt?
        var refusals = 0
        (asked, arrival, isAttemptInDoubt) = (network, nil, false)
        while true {
            let reply =
                switch doubt {
                case nil: try await handOver(network)
                case let doubt?: try await handOverAgain(network, doubt)
                }
            switch reply {
            case .answered(.success): return
            case .answered(.internalError):
                if doubt != nil, try await isJoining() {
                    isAttemptInDoubt = true
                    return
                }
                doubt = nil
                refusals += 1
                guard refusals <= maximumRefusals else {
                    throw .rejected("the Wi-Fi settings", Status.internalError.title)
                }
                logger.debug("board refused to apply; resetting it", metadata: ["peer": "\(peer)"])
                arrival = try await makeReady(for: network, report: report)
                if arrival != nil { return }
            case .answered(let status): throw .rejected("the Wi-Fi settings", status.title)
            case .linkLost: doubt = doubt ?? Doubt(since: time.elapsed())
            case .unanswered(let error) where error.isLeaving: throw error.afterApply
            case .unanswered(let error):
                var now = doubt ?? Doubt(since: time.elapsed())
                // A board that opens a new session and gives the same bad answer again is there, and further attempts do not help.
                if !error.mayBeSilence, now.lastAnswer == error.code {
                    throw error.code == .rejected ? error : .mayBeJoining(peer, error)
                }
                guard time.elapsed() - now.since < patience else { throw .mayBeJoining(peer, error) }
                now.lastAnswer = error.code
                let rest = now.schedule.next()
                doubt = now
                try await pause(rest)
            }
        }
    }

    public func join(_ network: WiFiNetwork) async throws(BoardError) { try await join(network) { _ in } }

    /// The limit for a board that became ready each time. Two clients may be provisioning the same board.
    private var maximumRefusals: Int { 3 }

    /// Sends and applies the settings once more, if the failed attempt may have been for an earlier run's network. Returns whether the
    /// board accepted them.
    func joinAgainIfInDoubt() async throws(BoardError) -> Bool {
        guard isAttemptInDoubt, let asked else { return false }
        isAttemptInDoubt = false
        logger.debug("the failed attempt may have been another client's; applying again", metadata: ["peer": "\(peer)"])
        _ = try await resetStatus()
        guard case .answered(.success) = try await handOver(asked) else { return false }
        return true
    }

    /// The state of an Apply without an answer.
    private struct Doubt {
        var since: Duration
        /// The error of the last try.
        var lastAnswer: BoardError.Code?
        var schedule = PollSchedule.unreachable
    }

    /// The board's reply to an Apply.
    private enum Reply {
        case answered(Status)
        /// The connection broke before the board answered.
        case linkLost
        case unanswered(BoardError)
    }

    private func handOver(_ network: WiFiNetwork) async throws(BoardError) -> Reply {
        // Sending the settings may need another session, before which the board may have restarted.
        repeat {
            try await tellUserAgain()
            try await set(network)
        } while toldUser != nil && toldInSession != sessions
        do {
            return try await apply().map(Reply.answered) ?? .linkLost
        } catch {
            guard error.code != .cancelled else { throw error }
            return .unanswered(error)
        }
    }

    /// Repeats this at a board that may have accepted it before, until `patience` is over. A transport alone might search much longer for a
    /// board that has left.
    private func handOverAgain(_ network: WiFiNetwork, _ doubt: Doubt) async throws(BoardError) -> Reply {
        let left = patience - (time.elapsed() - doubt.since)
        let result = await withDeadline(left, sleep: time.sleep) { () async throws(BoardError) in
            try await self.secureAgain()
            return try await self.handOver(network)
        }
        do {
            return try result?.get() ?? .unanswered(.silent(peer, for: left))
        } catch {
            guard error.code != .cancelled else { throw error }
            return .unanswered(error)
        }
    }

    private func set(_ network: WiFiNetwork) async throws(BoardError) {
        let command = SetWiFiConfigCommand(ssid: network.ssid.bytes, passphrase: network.passphrase.revealBytes())
        // The board keeps it in memory, and nothing happens before an Apply.
        let answer = try await ask(
            NetworkConfigPayload(.commandSetWiFiConfig(command)), on: .config, within: answerLimit(.seconds(3)),
            repeats: 2
        ) { answer in
            if case .responseSetWiFiConfig? = answer.payload { true } else { false }
        }
        guard case .responseSetWiFiConfig(let response)? = answer.payload else { throw .unexpectedAnswer(on: .config) }
        if response.status == .invalidArgument {
            throw BoardError(
                .invalidArgument,
                message: "The board does not accept this network name or passphrase. Check their lengths.")
        }
        guard response.status == .success else {
            throw .rejected("the Wi-Fi settings", response.status.title)
        }
    }

    /// Returns nil if the connection broke before the board answered. The connection is not restored here: a transport alone might search
    /// much longer than `patience` for a board that has left.
    private func apply() async throws(BoardError) -> Status? {
        let command = NetworkConfigPayload(.commandApplyWiFiConfig)
        guard
            let answer = try await askOnce(command, on: .config, within: answerLimit(.seconds(3)), restores: false)
        else { return nil }
        guard case .responseApplyWiFiConfig(let response)? = answer.payload else {
            // The caller finds out whether the board accepted it, as after a missing answer.
            if session.mayGarbleAnswers {
                await session.markInvalid()
                return nil
            }
            throw .unexpectedAnswer(on: .config)
        }
        if response.status == .success { appliedAt = time.elapsed() }
        return response.status
    }

    public func reset() async throws(BoardError) {
        if identity?.isOnNetwork == true { throw .onNetwork(peer, lacks: "has no failed Wi-Fi settings to forget") }
        guard try await resetStatus(repeats: 1) == .success else {
            throw BoardError(
                .rejected,
                message:
                    "The board cannot be reset now: it is still joining a network, or already on one. Try again in a moment."
            )
        }
    }

    func resetStatus(repeats: Int = 0) async throws(BoardError) -> Status {
        do {
            return try await ask(NetworkControlPayload(.commandWiFiReset), on: .control, repeats: repeats).status
        } catch {
            guard error.code == .unsupported else { throw error }
            throw BoardError(
                .unsupported,
                message:
                    "The board's firmware cannot forget failed Wi-Fi settings (this needs ESP-IDF 5.1 or later). Restart the board, or "
                    + "reset it to factory settings.", cause: error.cause)
        }
    }
}

extension BoardError {
    /// The same error for a board that may have accepted an Apply; the cloud can show the result.
    var afterApply: BoardError {
        var error = self
        error.code = .mayBeJoining
        return error
    }

    /// Whether there may have been no answer at all, as opposed to an unusable one.
    fileprivate var mayBeSilence: Bool { ![.rejected, .malformed, .wrongProofOfPossession].contains(code) }
}

/// A board that an earlier run has sent to a network, and that accepts no other while it tries.
extension ProtocommBoard {
    /// Makes a board that refused its settings ready for them.
    ///
    /// Firmware accepts a reset as soon as an attempt has failed. It refuses it during an attempt and on a network. Its status alone is not
    /// enough: it is the same before the first attempt, during one, and in an endless retry. Silence has the same meaning as in
    /// ``watch(report:)``: the access point follows the channel of the network that is being tried.
    ///
    /// - Returns: the board's network, if the earlier attempt led to the requested one; nil once the board accepts settings.
    func makeReady(
        for network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) -> JoinedNetwork? {
        var schedule = PollSchedule.boardStatus
        let began = time.elapsed()
        var silentSince: Duration?
        var hasReported = false
        while true {
            try await pause(schedule.next())
            let asked = time.elapsed()
            var found: Occupation?
            do {
                let left = patience - (asked - (silentSince ?? asked))
                found = try await occupation(within: left, isSilent: silentSince != nil)
            } catch {
                guard error.mayPassAfterJoining else { throw error }
                if error.isLeaving { throw .leftWhileOccupied(peer, error) }
                let since = silentSince ?? asked
                silentSince = since
                guard time.elapsed() - since < patience else {
                    throw error.faultyAnswer == nil ? BoardError.leftWhileOccupied(peer, error) : error
                }
            }
            switch found {
            case .ready?: return nil
            case .there(let place)?:
                try place.verify(isOn: network)
                return place
            case .trying?: silentSince = nil
            case nil: break
            }
            // A board that is ending its service refuses in the same way, and is gone by then.
            guard !hasReported, silentSince == nil, time.elapsed() - began > timeBeforeEnd else { continue }
            await report(.occupied)
            hasReported = true
        }
    }

    /// How long firmware continues to serve after it has scheduled the end of its service (`cleanup_delay`).
    private var timeBeforeEnd: Duration { .milliseconds(1200) }

    private enum Occupation {
        case ready, trying
        case there(JoinedNetwork)
    }

    private func occupation(within limit: Duration, isSilent: Bool) async throws(BoardError) -> Occupation {
        let result = await withDeadline(limit, sleep: time.sleep) { () async throws(BoardError) in
            if isSilent { try await self.secureAgain() }
            return try await self.occupation()
        }
        guard let result else { throw .silent(peer, for: limit) }
        return try result.get()
    }

    private func occupation() async throws(BoardError) -> Occupation {
        var refusal: BoardError?
        do {
            if try await resetStatus() == .success { return .ready }
        } catch {
            guard error.code == .unsupported else { throw error }
            refusal = error
        }
        let status = try await wifiStatus()
        switch (status.state, status.detail) {
        case (.connected, .connected(let connection)?): return .there(JoinedNetwork(connection))
        case (.connected, _): return .there(JoinedNetwork(address: "", ssid: SSID([])))
        case (.connectionFailed, _):
            if let refusal { throw refusal }
            // Firmware before network_provisioning 1.2.1 that has reset itself refuses a reset, but accepts settings.
            return .ready
        default: return .trying
        }
    }
}

extension BoardError {
    /// The two causes cannot be distinguished: the status is the same, and in both cases the board refuses an Apply and a reset.
    fileprivate static func leftWhileOccupied(_ peer: String, _ error: BoardError) -> BoardError {
        var lost = BoardError(
            .mayBeJoining,
            message:
                "The board at \(peer) ended its provisioning service and did not accept these Wi-Fi settings. It has joined a network "
                + "that it received before, or has refused five proofs of possession. Look for the board in your account. If it is not there, "
                + "restart the board and try again.", cause: error.cause ?? error.message)
        lost.isLeaving = true
        return lost
    }
}

extension ProtocommBoard {
    /// How long a board may stay silent while its access point follows the network's channel. After that only the cloud can show the
    /// result.
    var patience: Duration { .seconds(12) }

    /// Firmware reports that it is connecting until it has an address, and has no deadline for that.
    private var timeForAddress: Duration { .seconds(60) }

    /// Firmware starts a timer of this length when it accepts an Apply, and does not touch its radio before it fires. Until then the
    /// attempt cannot have a result (`network_prov_mgr_configure_wifi_sta`).
    private var timeBeforeJoining: Duration { .seconds(1) }

    /// Firmware serves for one second after it has reported that it is connected. If the status is requested again within that second, in a
    /// new session, it reports it again.
    private var firstStatusLimit: Duration { .milliseconds(700) }

    public func watch(
        report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) -> JoinedNetwork {
        if let arrival { return arrival }
        silence = nil
        lastAnswer = time.elapsed()
        do throws(BoardError) {
            return try await followed(report: report)
        } catch {
            let isSilent = silence != nil || time.elapsed() - lastAnswer > .seconds(2)
            throw isSilent ? error.unfinished(silent: peer, silence) : error
        }
    }

    private func followed(
        report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) -> JoinedNetwork {
        var schedule = PollSchedule.boardStatus
        var silentSince: Duration?
        var isPortGone = false
        /// The last failure, if the board did answer.
        var faulty: BoardError?
        var last: WiFiProgress?
        var hasTriedBefore = false
        var connectingSince: Duration?
        while true {
            // Asks once before that: a board may have returned to an earlier network.
            let firstChange = appliedAt.map { $0 + timeBeforeJoining } ?? time.elapsed()
            let rest = schedule.next()
            try await pause(last == .connecting ? max(rest, firstChange - time.elapsed()) : rest)
            let status: WiFiStatusResponse
            let asked = time.elapsed()
            do {
                // A transport that searches for a board that has left would take longer than that by itself.
                let left = patience - (asked - (silentSince ?? asked))
                status = try await answer(within: left, isSilent: silentSince != nil)
                (silentSince, isPortGone, silence, faulty) = (nil, false, nil, nil)
            } catch {
                guard error.mayPassAfterJoining, !error.isLeaving else { throw error }
                let since = silentSince ?? asked
                silentSince = since
                if error.reason == BoardError.portGone { isPortGone = true }
                // An error of the port or of this machine explains the silence after it.
                if !(silence?.isExplained ?? false) { silence = error }
                let isTimeUp = time.elapsed() - since >= patience
                // The last request may only have had too little time for its answer.
                if error.faultyAnswer != nil { faulty = error } else if !isTimeUp { faulty = nil }
                guard !isTimeUp else {
                    throw (faulty ?? error).asLost(peer, isPortGone: isPortGone, noticed: silence)
                }
                if last != .unreachable { await report(.unreachable) }
                last = .unreachable
                continue
            }
            let progress: WiFiProgress
            let outcome: Verdict
            do {
                outcome = try verdict(status, hasTriedBefore: hasTriedBefore)
            } catch {
                guard try await joinAgainIfInDoubt() else { throw error.remarking(on: self.asked) }
                connectingSince = nil
                continue
            }
            switch outcome {
            case .joined(let network):
                if let wanted = self.asked { try network.verify(isOn: wanted) }
                return network
            case .attemptFailed(let remaining):
                hasTriedBefore = true
                progress = .attemptFailed(remaining: remaining)
            case .connecting: progress = .connecting
            }
            // An attempt that was refused, or that found no access point, ends much earlier.
            connectingSince = progress == .connecting ? connectingSince ?? time.elapsed() : nil
            if let connectingSince, time.elapsed() - connectingSince >= timeForAddress { throw .noAddress(self.asked) }
            if progress != last { await report(progress) }
            last = progress
        }
    }

    /// Returns whether a board that refuses a second Apply accepted the first. A board that leaves during the request has most likely
    /// joined; ``watch(report:)`` and the cloud find out.
    func isJoining() async throws(BoardError) -> Bool {
        do {
            return try await answer(within: patience, isSilent: false).state != .connectionFailed
        } catch {
            guard error.mayPassAfterJoining else { throw error }
            if error.isLeaving { throw error.afterApply }
            return true
        }
    }

    /// Returns the board's status, over a new session if the board was silent before. Throws `deviceLost` when the time is over.
    private func answer(
        within limit: Duration, isSilent: Bool
    ) async throws(BoardError) -> WiFiStatusResponse {
        let answerLimit = answerLimit(isSilent ? .seconds(2) : firstStatusLimit)
        let result = await withDeadline(limit, sleep: time.sleep) { () async throws(BoardError) in
            if isSilent { try await self.secureAgain() }
            return try await self.wifiStatus(within: answerLimit)
        }
        guard let result else { throw .silent(peer, for: limit) }
        return try result.get()
    }

    private enum Verdict {
        case joined(JoinedNetwork), connecting, attemptFailed(Int)
    }

    func wifiStatus(within limit: Duration? = nil) async throws(BoardError) -> WiFiStatusResponse {
        let answer = try await ask(
            NetworkConfigPayload(.commandGetWiFiStatus), on: .config, within: limit, repeats: 0
        ) { answer in
            if case .responseGetWiFiStatus? = answer.payload { true } else { false }
        }
        guard case .responseGetWiFiStatus(let response)? = answer.payload else { throw .unexpectedAnswer(on: .config) }
        guard response.status == .success else {
            throw .rejected("the request for its Wi-Fi state", response.status.title)
        }
        return response
    }

    /// - Parameter hasTriedBefore: whether a previous attempt failed. Firmware with several attempts reports the last reason that it
    ///   understood, or a wrong password if it understood none. That reason may be another attempt's.
    private func verdict(
        _ status: WiFiStatusResponse, hasTriedBefore: Bool
    ) throws(BoardError) -> Verdict {
        switch (status.state, status.detail) {
        case (.connected, let detail):
            guard case .connected(let connection)? = detail else {
                return .joined(JoinedNetwork(address: "", ssid: SSID([])))
            }
            return .joined(JoinedNetwork(connection))
        case (.connectionFailed, .failed(.authenticationError)?):
            throw BoardError(
                .wifiAuthenticationFailed,
                message: "The access point refused the board: check the Wi-Fi password."
                    + (hasTriedBefore
                        ? " If the password is right, the signal may be too weak, or the board may not support the network's protection. After several attempts, firmware reports this reason for those cases too."
                        : ""))
        case (.connectionFailed, .failed(.networkNotFound)?):
            var verdict = BoardError.notHeard(asked?.ssid)
            if hasTriedBefore {
                verdict.message +=
                    " If the network is in range, the board may not support its protection. After several attempts, firmware may report the reason of an earlier attempt."
            }
            throw verdict
        case (.connectionFailed, .failed(let failure)?):
            throw BoardError(
                .wifiFailed,
                message:
                    "The board could not join the network and reported the unknown reason \(failure.rawValue). Check the network's name and "
                    + "the Wi-Fi password, move the board nearer to the access point, and try again.")
        case (.connectionFailed, _):
            throw BoardError(
                .wifiFailed,
                message:
                    "The board could not join the network and did not report why. Move the board nearer to the access point and try again."
            )
        case (_, .attemptFailed(let failure)?):
            return .attemptFailed(Int(failure.attemptsRemaining))
        default:
            return .connecting
        }
    }
}

extension JoinedNetwork {
    init(_ connection: WiFiConnection) {
        // An address has at most 15 characters.
        let address = connection.ip4Address
        let isAddress = address.count <= 15 && address.allSatisfy { (0x2E...0x39).contains($0) && $0 != 0x2F }
        self.init(
            address: isAddress ? String(decoding: address, as: UTF8.self) : "",
            ssid: SSID(Array(connection.ssid.prefix(32))),
            channel: connection.channel > 0 ? Int(connection.channel) : nil)
    }
}

extension BoardError {
    /// Whether this may be the silence of a board that is changing its channel or has left for its network, or an answer torn by log lines.
    /// Boards log a lot at that time.
    var mayPassAfterJoining: Bool {
        [.deviceLost, .unavailable, .neverAnswered, .busy, .rejected, .securityMismatch, .malformed].contains(code)
    }

    static func silent(_ peer: String, for limit: Duration) -> BoardError {
        BoardError(.deviceLost, message: "The board at \(peer) did not answer within \(limit).")
    }

    fileprivate static func noAddress(_ network: WiFiNetwork?) -> BoardError {
        let name = network.map { " \"\($0.ssid)\"" } ?? ""
        return BoardError(
            .wifiFailed,
            message:
                "The network\(name) did not refuse the board, but gave it no address. The network's DHCP server may not answer, or may "
                + "have no address left. Check the router, and whether it admits only known devices.",
            reason: "no_address")
    }

    /// Whether the error is more than the board's silence.
    fileprivate var isExplained: Bool { reason == BoardError.portGone || isOfThisMachine }

    fileprivate func asLost(
        _ peer: String, isPortGone: Bool, noticed: BoardError?
    ) -> BoardError {
        let what =
            if isPortGone {
                "The port \(peer) was removed after the board received its Wi-Fi settings."
            } else if let noticed, noticed.isOfThisMachine {
                "\(noticed.message) The board had already received its Wi-Fi settings."
            } else if let faultyAnswer {
                "The board answered each request for its Wi-Fi state with \(faultyAnswer), after it had received its Wi-Fi settings."
            } else if code == .malformed || isAboutLostCharacters {
                "\(message) The board had already received its Wi-Fi settings."
            } else {
                "The board at \(peer) stopped answering after it received its Wi-Fi settings: it may have lost power or its connection."
            }
        var lost = BoardError(
            .deviceLost,
            message: "\(what) The board may be online anyway: look for the board in your account, or try again.",
            cause: cause,
            reason: isPortGone ? BoardError.portGone : nil)
        lost.faultyAnswer = isPortGone || noticed?.isOfThisMachine == true ? nil : faultyAnswer
        return lost
    }
}
