// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The firmware's provisioning service (`network_provisioning` 1.2.4) as a value: its stored credentials, its attempts to join, its
/// answers, and its end.
///
/// Times are milliseconds of any clock that does not run backwards. Each step first does the work that was due until then. The rules,
/// including the unusual ones, are those of ESP-IDF's `manager.c`, `handlers.c`, `network_config.c` and `network_scan.c`.
public struct ProvisioningMachine: Sendable {
    /// The states of `network_prov_mgr_state_t` that a client can observe.
    public enum State: Sendable, Equatable {
        case started, credentialsReceived, succeeded, failed, stopping, stopped
    }

    /// `network_prov_wifi_sta_state_t`: the answer to a status request. It is not reset together with the state.
    private enum Station: Equatable {
        case connecting
        case attemptFailed
        case connected(SimulatedAccessPoint)
        /// Connected before the application reprovisioned. The driver no longer reports events of the network.
        case formerlyConnected
        case disconnected
    }

    public let options: ProvisioningOptions
    public var radio: SimulatedRadio

    public internal(set) var state = State.started
    private var station = Station.connecting
    private var failure = WiFiConnectFailure.authenticationError
    private var attemptsCompleted: UInt32 = 0
    /// The credentials from Set for the next Apply.
    private var pending: WiFiCredentials?
    /// The Wi-Fi driver's credentials in flash. A board that has some counts as provisioned.
    private var stored: WiFiCredentials?
    private var scan = ScanState()

    private var verdictDue: UInt64?
    private var autoStopDue: UInt64?
    private var stopDue: UInt64?
    private var events: [DeviceEvent] = []

    public init(options: ProvisioningOptions = ProvisioningOptions(), radio: SimulatedRadio) {
        self.options = options
        self.radio = radio
    }

    public var isServing: Bool { state != .stopped }
    public var isProvisioned: Bool { stored != nil }

    /// Returns the events since the last call, in order.
    public mutating func takeEvents() -> [DeviceEvent] {
        defer { events = [] }
        return events
    }

    // MARK: Time

    /// The time of the next automatic step.
    public var nextDue: UInt64? {
        var due: UInt64?
        for candidate in [verdictDue, autoStopDue, stopDue, scan.due] {
            if let candidate, candidate < due ?? .max { due = candidate }
        }
        return due
    }

    /// Does the work that is due until `now`, in the order in which it was due.
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

    /// Stops the service. It still answers for ``ProvisioningOptions/cleanupDelay``.
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

/// The firmware's configuration. Times are milliseconds.
public struct ProvisioningOptions: Sendable, Equatable {
    /// `wifi_conn_attempts`. With 0, the old behaviour, the first failure of a known kind is final and all others are retried for ever.
    public var attempts: UInt32
    /// `CONFIG_APP_NETWORK_RESET_PROV_ON_FAILURE`: a failed board gets ready for other credentials.
    public var resetsOnFailure: Bool
    /// False if the application called `network_prov_mgr_disable_auto_stop`.
    public var stopsByItself: Bool
    /// How long the service still answers after it was stopped.
    public var cleanupDelay: UInt64
    /// How long the service waits for a status request once the board is connected (`CONFIG_NETWORK_PROV_AUTOSTOP_TIMEOUT`).
    public var autoStopDelay: UInt64
    /// Wrong proofs of possession before provisioning stops until the next boot; 0 for no limit.
    public var wrongProofLimit: UInt32
    /// The maximum number of scan entries (`CONFIG_NETWORK_PROV_SCAN_MAX_ENTRIES`).
    public var scanEntries: Int
    /// A reset is refused if there is nothing to reset, as in network_provisioning before 1.2.1 and in ESP-IDF's own component.
    public var refusesIdleReset: Bool

    public init(
        attempts: UInt32 = 0, resetsOnFailure: Bool = false, stopsByItself: Bool = true, cleanupDelay: UInt64 = 1000,
        autoStopDelay: UInt64 = 30_000, wrongProofLimit: UInt32 = 5,
        scanEntries: Int = 16, refusesIdleReset: Bool = false
    ) {
        self.attempts = attempts
        self.resetsOnFailure = resetsOnFailure
        self.stopsByItself = stopsByItself
        self.cleanupDelay = cleanupDelay
        self.autoStopDelay = autoStopDelay
        self.wrongProofLimit = wrongProofLimit
        self.scanEntries = scanEntries
        self.refusesIdleReset = refusesIdleReset
    }
}

/// A handler returned an error. The transport then sends no answer.
public struct HandlerFailure: Error, Equatable, Sendable {
    init() {}
}

/// The result of a handler.
enum HandlerResult {
    case reply([UInt8])
    /// The server task is busy with this request and answers later.
    case later
}

/// `prov-scan`.
extension ProvisioningMachine {
    mutating func respondToScan(_ request: [UInt8], now: UInt64) throws(HandlerFailure) -> HandlerResult {
        let message: NetworkScanPayload
        do { message = try NetworkScanPayload(decoding: request) } catch { throw HandlerFailure() }
        advance(to: now)
        switch message.message {
        case .commandScanWiFiStart:
            guard case .commandScanWiFiStart(let command)? = message.payload else { throw HandlerFailure() }
            return startScan(command, now: now)
        case .commandScanWiFiStatus:
            let progress = ScanStatusResponse(isFinished: !scan.isRunning, resultCount: UInt32(scan.results.count))
            return .reply(NetworkScanPayload(.responseScanWiFiStatus(progress)).encoded())
        case .commandScanWiFiResult:
            guard case .commandScanWiFiResult(let command)? = message.payload else { throw HandlerFailure() }
            return .reply(NetworkScanPayload(.responseScanWiFiResult(try results(command))).encoded())
        case .commandScanThreadStart:
            return .reply(NetworkScanPayload(.responseScanThreadStart, status: .invalidArgument).encoded())
        case .commandScanThreadStatus:
            let nothing = ScanStatusResponse(isFinished: false, resultCount: 0)
            return .reply(NetworkScanPayload(.responseScanThreadStatus(nothing), status: .invalidArgument).encoded())
        // This includes Thread results: the firmware has no such handler in a Wi-Fi build.
        default: throw HandlerFailure()
        }
    }

    /// Returns the answer to a blocking start, once the scan is over.
    func blockedScanReply() -> [UInt8]? { scan.isRunning ? nil : Self.scanStarted }

    private static var scanStarted: [UInt8] { NetworkScanPayload(.responseScanWiFiStart).encoded() }

    private mutating func startScan(_ command: ScanWiFiStartCommand, now: UInt64) -> HandlerResult {
        // A second start succeeds without doing anything, and without waiting.
        guard !scan.isRunning else { return .reply(Self.scanStarted) }
        scan = ScanState()
        scan.isRunning = true
        // The firmware passes it on as a byte.
        scan.groupChannels = command.groupChannels & 0xFF
        scan.channelDelay = command.isPassive ? radio.channelDelay * 3 : radio.channelDelay
        if scan.groupChannels > 0 {
            scan.channel = 1
            scan.due = now + scan.channelDelay
        } else {
            scan.due = now + scan.channelDelay * UInt64(ScanState.lastChannel)
        }
        events.append(.scanStarted)
        advance(to: now)
        return command.isBlocking && scan.isRunning ? .later : .reply(Self.scanStarted)
    }

    /// Handles the driver's report that a scan ended. Outside `started` the report is ignored, and then "scanning" stays set for ever.
    private mutating func advanceScan(now: UInt64) {
        scan.due = nil
        guard state == .started else { return }
        guard scan.groupChannels > 0 else {
            scan.add(radio.accessPoints, limit: options.scanEntries)
            return finishScan()
        }
        let channel = scan.channel
        scan.add(radio.accessPoints.filter { $0.channel == channel }, limit: options.scanEntries)
        scan.channel += 1
        guard scan.channel <= ScanState.lastChannel else { return finishScan() }
        let pause = scan.channel % scan.groupChannels == 0 ? ScanState.pause : 0
        scan.due = now + pause + scan.channelDelay
    }

    private mutating func finishScan() {
        scan.isRunning = false
        events.append(.scanFinished(count: UInt32(scan.results.count)))
    }

    private func results(_ command: ScanResultCommand) throws(HandlerFailure) -> ScanWiFiResultResponse {
        let start = UInt64(command.startIndex)
        let end = start + UInt64(command.count)
        let limit = UInt64(options.scanEntries)
        guard start < limit, end <= limit, command.count == 0 || end <= scan.results.count else {
            throw HandlerFailure()
        }
        guard command.count > 0 else { return ScanWiFiResultResponse([]) }
        return ScanWiFiResultResponse(
            scan.results[Int(start)..<Int(end)].map { accessPoint in
                WiFiScanResult(
                    ssid: accessPoint.isHidden ? [] : accessPoint.ssid.untilNull, channel: accessPoint.channel,
                    rssi: accessPoint.rssi, bssid: accessPoint.bssid, authentication: accessPoint.authentication)
            })
    }
}

/// One scan, running or complete.
private struct ScanState: Sendable {
    static let lastChannel: UInt32 = 13
    /// The radio returns to its own channel for this time between two groups, so that it does not lose the access point.
    static let pause: UInt64 = 120

    var isRunning = false
    /// 0: all channels at once.
    var groupChannels: UInt32 = 0
    var channel: UInt32 = 0
    var channelDelay: UInt64 = 0
    /// When the driver reports the end of this step.
    var due: UInt64?
    /// The strongest comes first.
    var results: [SimulatedAccessPoint] = []

    /// Merges the results of one step of the scan, like `update_wifi_scan_results`. All new networks are kept. If there are too many, the
    /// weakest of the earlier channels are dropped, even if they are stronger than the new ones.
    ///
    /// - Parameter limit: `MAX_SCAN_RESULTS`.
    mutating func add(_ found: [SimulatedAccessPoint], limit: Int) {
        // The driver sorts them.
        let new = SimulatedAccessPoint.strongestFirst(found).prefix(limit)
        results = Array(results.prefix(limit - new.count))
        for accessPoint in new.reversed() {
            // Before an earlier network of the same strength.
            let place = results.firstIndex { $0.rssi <= accessPoint.rssi } ?? results.count
            results.insert(accessPoint, at: place)
        }
    }
}

/// `prov-config`.
extension ProvisioningMachine {
    mutating func respondToConfig(_ request: [UInt8], now: UInt64) throws(HandlerFailure) -> [UInt8] {
        let message: NetworkConfigPayload
        do { message = try NetworkConfigPayload(decoding: request) } catch { throw HandlerFailure() }
        advance(to: now)
        // Get and Apply are recognised by their type alone; only Set is refused without its member.
        switch message.message {
        case .commandGetWiFiStatus: return NetworkConfigPayload(.responseGetWiFiStatus(status(now: now))).encoded()
        case .commandSetWiFiConfig:
            guard case .commandSetWiFiConfig(let command)? = message.payload else { throw HandlerFailure() }
            return NetworkConfigPayload(.responseSetWiFiConfig(StatusResponse(set(command)))).encoded()
        case .commandApplyWiFiConfig:
            return NetworkConfigPayload(.responseApplyWiFiConfig(StatusResponse(apply(now: now)))).encoded()
        case .commandGetThreadStatus:
            let refusal = ThreadStatusResponse(status: .invalidArgument, state: ThreadNetworkState(rawValue: 0))
            return NetworkConfigPayload(.responseGetThreadStatus(refusal)).encoded()
        case .commandSetThreadConfig:
            guard case .commandSetThreadConfig? = message.payload else { throw HandlerFailure() }
            return NetworkConfigPayload(.responseSetThreadConfig(StatusResponse(.invalidArgument))).encoded()
        case .commandApplyThreadConfig:
            return NetworkConfigPayload(.responseApplyThreadConfig(StatusResponse(.invalidArgument))).encoded()
        default: throw HandlerFailure()
        }
    }

    private mutating func set(_ command: SetWiFiConfigCommand) -> Status {
        guard command.ssid.count <= 32, command.passphrase.count <= 63,
            command.bssid.isEmpty || command.bssid.count == 6
        else { return .invalidArgument }
        // BSSID and channel are accepted but not used; both texts pass through C strings.
        pending = WiFiCredentials(ssid: command.ssid.untilNull, passphrase: command.passphrase.untilNull)
        return .success
    }

    private mutating func apply(now: UInt64) -> Status {
        // Used up even if the state refuses it.
        guard let credentials = pending else { return .internalError }
        pending = nil
        return configureStation(credentials, now: now) ? .success : .internalError
    }

    private mutating func status(now: UInt64) -> WiFiStatusResponse {
        switch station {
        case .connecting: return WiFiStatusResponse(state: .connecting)
        case .attemptFailed:
            let remaining = WiFiAttemptFailed(attemptsRemaining: options.attempts - attemptsCompleted)
            return WiFiStatusResponse(state: .connecting, detail: .attemptFailed(remaining))
        case .disconnected: return WiFiStatusResponse(state: .connectionFailed, detail: .failed(failure))
        case .connected(let accessPoint):
            // The first client that gets this answer starts the end of the service.
            if options.stopsByItself { stop(now: now) }
            return WiFiStatusResponse(
                state: .connected, detail: .connected(Self.connection(accessPoint, radio.address)))
        case .formerlyConnected:
            let nothing = SimulatedAccessPoint(
                ssid: Self.garbage(8), bssid: Self.garbage(6), channel: 0xA5,
                authentication: WiFiAuthentication(rawValue: 17))
            return WiFiStatusResponse(
                state: .connected, detail: .connected(Self.connection(nothing, bytes("0.0.0.0"))))
        }
    }

    private static func connection(_ accessPoint: SimulatedAccessPoint, _ address: [UInt8]) -> WiFiConnection {
        // `strndup` copies the BSSID up to a zero byte, followed by undefined heap content.
        var bssid = accessPoint.bssid.untilNull
        if bssid.count < 6 { bssid.append(0) }
        bssid.append(contentsOf: garbage(6 - bssid.count))
        return WiFiConnection(
            ip4Address: address, authentication: accessPoint.authentication, ssid: accessPoint.ssid.untilNull,
            bssid: bssid, channel: Int32(clamping: accessPoint.channel))
    }

    private static func garbage(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xA5, count: max(0, count)) }
}

extension ProvisioningMachine {
    /// `network_prov_mgr_configure_wifi_sta`: takes credentials and starts to join. Returns false if the state forbids it.
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

    /// Joins another network without the provisioning service, like the `wifi-prov` command of a provisioned board.
    public mutating func reconfigureStation(_ credentials: WiFiCredentials, now: UInt64) {
        advance(to: now)
        join(credentials, now: now)
    }

    /// The network is already known: the service never starts, and the board is on the network at once.
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

    private mutating func concludeAttempt(now: UInt64) {
        verdictDue = nil
        guard let credentials = stored else { return }
        switch radio.verdict(on: credentials) {
        case .never: break
        case .joined(let accessPoint): joined(accessPoint, now: now)
        case .disconnected(let reason): disconnected(reason, now: now)
        }
    }

    private mutating func joined(_ accessPoint: SimulatedAccessPoint, now: UInt64) {
        // The service does not handle the driver's events before credentials came (after a reprovision) and after its end.
        if isListening {
            station = .connected(accessPoint)
            state = .succeeded
            if options.stopsByItself { autoStopDue = now + options.autoStopDelay }
        }
        events.append(.joined(ssid: accessPoint.ssid, channel: accessPoint.channel))
    }

    private mutating func disconnected(_ reason: DisconnectReason, now: UInt64) {
        guard isListening else {
            // The application's own handler retries as long as there are credentials.
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
        // Also if the attempt will be repeated: a reset is possible then, and a success still counts.
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

    /// An endless retry must take some time, whatever the join delay is.
    private static var shortestRetry: UInt64 { 100 }

    /// `network_prov_mgr_reset_wifi_sm_state_on_failure`. The answer to a status request stays the same until the next Apply.
    private mutating func reset() -> Status {
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

    /// `network_prov_mgr_reset_wifi_sm_state_for_reprovision`: from any state, if the application keeps the service running.
    private mutating func reprovision() -> Status {
        guard !options.stopsByItself else { return .internalError }
        if case .connected = station { station = .formerlyConnected }
        stored = nil
        verdictDue = nil
        attemptsCompleted = 0
        state = .started
        return .success
    }
}

/// `prov-ctrl`.
extension ProvisioningMachine {
    mutating func respondToControl(_ request: [UInt8], now: UInt64) throws(HandlerFailure) -> [UInt8] {
        let message: NetworkControlPayload
        do { message = try NetworkControlPayload(decoding: request) } catch { throw HandlerFailure() }
        advance(to: now)
        switch message.message {
        case .commandWiFiReset: return NetworkControlPayload(.responseWiFiReset, status: reset()).encoded()
        case .commandWiFiReprovision:
            return NetworkControlPayload(.responseWiFiReprovision, status: reprovision()).encoded()
        case .commandThreadReset:
            return NetworkControlPayload(.responseThreadReset, status: .invalidArgument).encoded()
        case .commandThreadReprovision:
            return NetworkControlPayload(.responseThreadReprovision, status: .invalidArgument).encoded()
        default: throw HandlerFailure()
        }
    }
}
