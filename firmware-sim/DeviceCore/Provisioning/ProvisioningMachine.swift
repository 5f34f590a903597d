// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The firmware's provisioning service (`network_provisioning` 1.2.4) as a value: what it stores, when it joins, what it answers, and when
/// it stops.
///
/// Time comes in as milliseconds of any clock that does not run backwards. Each step first does what was due until then.
/// The rules, the odd ones included, are those of ESP-IDF's `manager.c`, `handlers.c`, `network_config.c` and `network_scan.c`.
public struct ProvisioningMachine: Sendable {
    /// `network_prov_mgr_state_t`, as far as a client can meet it.
    public enum State: Sendable, Equatable {
        case started, credentialsReceived, succeeded, failed, stopping, stopped
    }

    /// `network_prov_wifi_sta_state_t`: the answer to a status request. It is not reset together with the state.
    enum Station: Equatable {
        case connecting
        case attemptFailed
        case connected(SimulatedAccessPoint)
        /// Connected before the application reprovisioned: the driver no longer reports anything about the network.
        case formerlyConnected
        case disconnected
    }

    public let options: ProvisioningOptions
    public var radio: SimulatedRadio

    public internal(set) var state = State.started
    var station = Station.connecting
    var failure = WiFiConnectFailure.authenticationError
    var attemptsCompleted: UInt32 = 0
    /// What Set left for the next Apply.
    var pending: WiFiCredentials?
    /// What the Wi-Fi driver keeps in flash; a board that has some counts as provisioned.
    var stored: WiFiCredentials?
    var scan = ScanState()

    var verdictDue: UInt64?
    var autoStopDue: UInt64?
    var stopDue: UInt64?
    var events: [DeviceEvent] = []

    public init(options: ProvisioningOptions = ProvisioningOptions(), radio: SimulatedRadio) {
        self.options = options
        self.radio = radio
    }

    public var isServing: Bool { state != .stopped }
    public var isProvisioned: Bool { stored != nil }

    /// What happened since the last call, in order.
    public mutating func takeEvents() -> [DeviceEvent] {
        defer { events = [] }
        return events
    }

    // MARK: time

    /// When something will happen by itself next.
    public var nextDue: UInt64? {
        var due: UInt64?
        for candidate in [verdictDue, autoStopDue, stopDue, scan.due] {
            if let candidate, candidate < due ?? .max { due = candidate }
        }
        return due
    }

    /// Does what is due until `now`, in the order in which it was due.
    public mutating func advance(to now: UInt64) {
        while let due = nextDue, due <= now {
            if stopDue == due {
                finishStopping()
            } else if autoStopDue == due {
                autoStopDue = nil
                stop(now: due)
            } else if verdictDue == due {
                concludeAttempt(now: due)
            } else {
                advanceScan(now: due)
            }
        }
    }

    /// Tells the service to stop; it still answers for ``ProvisioningOptions/cleanupDelay``.
    public mutating func stop(now: UInt64) {
        guard state != .stopping, state != .stopped else { return }
        state = .stopping
        autoStopDue = nil
        scan = ScanState()
        stopDue = now + options.cleanupDelay
        events.append(.serviceStopping)
    }

    private mutating func finishStopping() {
        stopDue = nil
        state = .stopped
        events.append(.serviceStopped)
    }
}
