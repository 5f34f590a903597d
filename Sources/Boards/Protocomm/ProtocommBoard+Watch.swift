// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainCore
import RainIO

extension ProtocommBoard {
    /// How long a board may stay silent while its access point follows the network's channel. Afterwards the cloud must tell.
    var patience: Duration { .seconds(12) }

    /// Firmware says that it is connecting until it has an address, and sets itself no deadline for that.
    private var timeForAddress: Duration { .seconds(60) }

    /// Firmware starts a timer of this length when it accepts an Apply, and leaves its radio alone until it is over: nothing can have
    /// become of the attempt before (`network_prov_mgr_configure_wifi_sta`).
    private var timeBeforeJoining: Duration { .seconds(1) }

    /// Firmware serves for one second after it has said that it is connected. A status that is asked for again within that second, in a new
    /// session, says so again.
    private var firstStatusLimit: Duration { .milliseconds(700) }

    public func watch(
        report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) -> JoinedNetwork {
        if let arrival { return arrival }
        var schedule = PollSchedule.boardStatus
        var silentSince: Duration?
        var isPortGone = false
        var last: WiFiProgress?
        var hasTriedBefore = false
        var connectingSince: Duration?
        while true {
            // Asked once before: a board may have fallen back to where it was.
            let firstChange = appliedAt.map { $0 + timeBeforeJoining } ?? time.elapsed()
            let rest = schedule.next()
            try await pause(last == .connecting ? max(rest, firstChange - time.elapsed()) : rest)
            let status: WiFiStatusResponse
            let asked = time.elapsed()
            do {
                // A transport that looks for a board that has left would take longer than that by itself.
                let left = patience - (asked - (silentSince ?? asked))
                status = try await answer(within: left, isSilent: silentSince != nil)
                (silentSince, isPortGone) = (nil, false)
            } catch {
                guard error.mayPassAfterJoining, !error.isLeaving else { throw error }
                let since = silentSince ?? asked
                silentSince = since
                if error.reason == TransportError.portGone { isPortGone = true }
                guard time.elapsed() - since < patience else { throw error.asLost(peer, isPortGone: isPortGone) }
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

    /// Whether a board that refuses a second Apply took the first. One that leaves while it is asked has joined, as far as anybody can
    /// tell; ``watch(report:)`` and the cloud find out.
    func isJoining() async throws(ProvisioningError) -> Bool {
        do {
            return try await answer(within: patience, isSilent: false).state != .connectionFailed
        } catch {
            guard error.mayPassAfterJoining else { throw error }
            if error.isLeaving { throw error.afterApply }
            return true
        }
    }

    /// The board's status, over a new session where it was silent before; `deviceLost` when the time is over.
    private func answer(
        within limit: Duration, isSilent: Bool
    ) async throws(ProvisioningError) -> WiFiStatusResponse {
        let answerLimit = answerLimit(isSilent ? .seconds(2) : firstStatusLimit)
        let result = await withDeadline(limit, sleep: time.sleep) { () async throws(ProvisioningError) in
            if isSilent { try await self.secureAgain() }
            return try await self.wifiStatus(within: answerLimit)
        }
        guard let result else { throw .silent(peer, for: limit) }
        return try result.get()
    }

    private enum Verdict {
        case joined(JoinedNetwork), connecting, attemptFailed(Int)
    }

    func wifiStatus(within limit: Duration? = nil) async throws(ProvisioningError) -> WiFiStatusResponse {
        let answer = try await ask(
            NetworkConfigPayload(.commandGetWiFiStatus), on: .config, within: limit, repeats: 0
        ) { answer in
            if case .responseGetWiFiStatus? = answer.payload { true } else { false }
        }
        guard case .responseGetWiFiStatus(let response)? = answer.payload else { throw .unexpectedAnswer(on: .config) }
        guard response.status == .success else { throw .rejected("the question", status: response.status.rawValue) }
        return response
    }

    /// - Parameter hasTriedBefore: whether an attempt before this one had failed. Firmware that makes several tells the last reason that it
    ///   understood, or a refused password where it understood none, which may be another attempt's.
    private func verdict(
        _ status: WiFiStatusResponse, hasTriedBefore: Bool
    ) throws(ProvisioningError) -> Verdict {
        switch (status.state, status.detail) {
        case (.connected, let detail):
            guard case .connected(let connection)? = detail else {
                return .joined(JoinedNetwork(address: "", ssid: SSID([])))
            }
            return .joined(JoinedNetwork(connection))
        case (.connectionFailed, .failed(.authenticationError)?):
            throw ProvisioningError(
                .wifiAuthenticationFailed,
                message: "The access point refused the board: check the Wi-Fi password, then run this again."
                    + (hasTriedBefore
                        ? " If it is right, the network may be too weak there, or protected in a way that the board lacks: after "
                            + "several attempts firmware gives this reason for those, too." : ""))
        case (.connectionFailed, .failed(.networkNotFound)?):
            var verdict = ProvisioningError.notHeard(asked?.ssid)
            if hasTriedBefore {
                verdict.message +=
                    " If it is, it may be protected in a way that the board lacks: after several attempts firmware may give an "
                    + "earlier one's reason."
            }
            throw verdict
        case (.connectionFailed, _):
            throw ProvisioningError(
                .wifiFailed,
                message: "The board could not join the network and did not say why. Try again, nearer to it.")
        case (_, .attemptFailed(let failure)?):
            return .attemptFailed(Int(failure.attemptsRemaining))
        default:
            return .connecting
        }
    }
}

extension JoinedNetwork {
    init(_ connection: WiFiConnection) {
        // An address is at most 15 characters; anything else is not one.
        let address = connection.ip4Address
        let isAddress = address.count <= 15 && address.allSatisfy { (0x2E...0x39).contains($0) && $0 != 0x2F }
        self.init(
            address: isAddress ? String(decoding: address, as: UTF8.self) : "",
            ssid: SSID(Array(connection.ssid.prefix(32))),
            channel: connection.channel > 0 ? Int(connection.channel) : nil)
    }
}

extension ProvisioningError {
    /// Whether this may be the silence of a board that is changing its channel, or has left for its network; or an answer broken up by log
    /// lines, since boards log a lot at that time.
    var mayPassAfterJoining: Bool {
        [.deviceLost, .unavailable, .neverAnswered, .busy, .rejected, .securityMismatch, .malformed].contains(code)
    }

    static func silent(_ peer: String, for limit: Duration) -> ProvisioningError {
        ProvisioningError(.deviceLost, message: "The board at \(peer) did not answer within \(limit).")
    }

    fileprivate static func noAddress(_ network: WiFiNetwork?) -> ProvisioningError {
        let name = network.map { " \"\($0.ssid)\"" } ?? ""
        return ProvisioningError(
            .wifiFailed,
            message:
                "The network\(name) neither refuses the board nor gives it an address: its DHCP server does not answer, or has no address "
                + "left. Check the router, or whether it admits known devices only.", reason: "no_address")
    }

    fileprivate func asLost(_ peer: String, isPortGone: Bool) -> ProvisioningError {
        let what =
            isPortGone
            ? "The port \(peer) went away after the board got its Wi-Fi settings."
            : "The board at \(peer) stopped answering after it got its Wi-Fi settings."
        return ProvisioningError(
            .deviceLost,
            message: "\(what) It may be online: look for it in your account, or run this again.", cause: cause,
            reason: isPortGone ? TransportError.portGone : nil)
    }
}
