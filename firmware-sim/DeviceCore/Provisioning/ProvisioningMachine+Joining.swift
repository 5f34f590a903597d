// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

extension ProvisioningMachine {
    /// `network_prov_mgr_configure_wifi_sta`: takes credentials and starts to join; false where the state forbids it.
    public mutating func configureStation(_ credentials: WiFiCredentials, now: UInt64) -> Bool {
        advance(to: now)
        guard state == .started else { return false }
        station = .connecting
        attemptsCompleted = 0
        state = .credentialsReceived
        events.append(.credentialsReceived(ssid: credentials.ssid))
        join(credentials, now: now)
        return true
    }

    /// Joins another network without asking the provisioning service, as the `wifi-prov` command of a provisioned board does.
    public mutating func reconfigureStation(_ credentials: WiFiCredentials, now: UInt64) {
        advance(to: now)
        join(credentials, now: now)
    }

    /// The network is known from an earlier time: the service never starts, and the board is on the network at once.
    mutating func startProvisioned() {
        guard state == .started else { return }
        state = .stopped
        let accessPoint = radio.accessPoints.first
        stored = WiFiCredentials(ssid: accessPoint?.ssid ?? [], passphrase: [])
        events.append(.joined(ssid: accessPoint?.ssid ?? [], channel: accessPoint?.channel ?? 1))
    }

    private mutating func join(_ credentials: WiFiCredentials, now: UInt64) {
        stored = credentials
        verdictDue = now + radio.joinDelay
        advance(to: now)
    }

    mutating func concludeAttempt(now: UInt64) {
        verdictDue = nil
        guard let credentials = stored else { return }
        switch radio.verdict(on: credentials) {
        case .never: break
        case .joined(let accessPoint): joined(accessPoint, now: now)
        case .disconnected(let reason): disconnected(reason, now: now)
        }
    }

    private mutating func joined(_ accessPoint: SimulatedAccessPoint, now: UInt64) {
        // Before credentials came (after a reprovision, that is) and after the end the service does not listen to the driver.
        if isListening {
            station = .connected(accessPoint)
            state = .succeeded
            if options.stopsByItself { autoStopDue = now + options.autoStopDelay }
        }
        events.append(.joined(ssid: accessPoint.ssid, channel: accessPoint.channel))
    }

    private mutating func disconnected(_ reason: DisconnectReason, now: UInt64) {
        guard isListening else {
            // The application's own handler tries again, as long as there is something to join.
            events.append(.disconnected(reason))
            verdictDue = now + max(radio.joinDelay, Self.shortestRetry)
            return
        }
        attemptsCompleted += 1
        if attemptsCompleted < options.attempts {
            station = .attemptFailed
            events.append(.attemptFailed(reason, remaining: options.attempts - attemptsCompleted))
            verdictDue = now + radio.joinDelay
            return
        }
        // Also when the attempt is going to be repeated: a reset is possible then, and a success still counts.
        state = .failed
        if let understood = reason.failure {
            failure = understood
        } else if options.attempts == 0 {
            station = .connecting
            events.append(.attemptFailed(reason, remaining: 0))
            verdictDue = now + max(radio.joinDelay, Self.shortestRetry)
            return
        }
        station = .disconnected
        events.append(.joinFailed(reason, failure))
        if options.resetsOnFailure {
            _ = reset()
            events.append(.resetAfterFailure)
        }
    }

    private var isListening: Bool {
        switch state {
        case .credentialsReceived, .succeeded, .failed: true
        case .started, .stopping, .stopped: false
        }
    }

    /// A retry without end must take some time, whatever the join delay is.
    private static var shortestRetry: UInt64 { 100 }

    /// `network_prov_mgr_reset_wifi_sm_state_on_failure`. The answer to a status request stays the same until the next Apply.
    mutating func reset() -> Status {
        switch state {
        case .failed:
            stored = nil
            verdictDue = nil
            attemptsCompleted = 0
            state = .started
            return .success
        case .started: return options.refusesIdleReset ? .internalError : .success
        case .credentialsReceived, .succeeded, .stopping, .stopped: return .internalError
        }
    }

    /// `network_prov_mgr_reset_wifi_sm_state_for_reprovision`: from any state, if the application keeps the service up.
    mutating func reprovision() -> Status {
        guard !options.stopsByItself else { return .internalError }
        if case .connected = station { station = .formerlyConnected }
        stored = nil
        verdictDue = nil
        attemptsCompleted = 0
        state = .started
        return .success
    }
}
