// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// `prov-config`.
extension ProvisioningMachine {
    mutating func respondToConfig(_ request: [UInt8], now: UInt64) throws(HandlerFailure) -> [UInt8] {
        let message: NetworkConfigPayload
        do { message = try NetworkConfigPayload(decoding: request) } catch { throw HandlerFailure() }
        advance(to: now)
        // Get and Apply are known by their type alone; only Set is refused without its member.
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
        // BSSID and channel are taken and not used; both texts go through C strings.
        pending = WiFiCredentials(ssid: command.ssid.untilNull, passphrase: command.passphrase.untilNull)
        return .success
    }

    private mutating func apply(now: UInt64) -> Status {
        // Used up even where the state refuses it.
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
        // `strndup` copies the BSSID up to a zero byte; what follows it is whatever lay on the heap.
        var bssid = accessPoint.bssid.untilNull
        if bssid.count < 6 { bssid.append(0) }
        bssid.append(contentsOf: garbage(6 - bssid.count))
        return WiFiConnection(
            ip4Address: address, authentication: accessPoint.authentication, ssid: accessPoint.ssid.untilNull,
            bssid: bssid, channel: Int32(clamping: accessPoint.channel))
    }

    private static func garbage(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xA5, count: max(0, count)) }
}
