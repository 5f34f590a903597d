// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

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
        // A Thread result among them: the firmware has no such handler in a Wi-Fi build.
        default: throw HandlerFailure()
        }
    }

    /// The answer that a blocking start is waiting for, once the scan is over.
    func blockedScanReply() -> [UInt8]? { scan.isRunning ? nil : Self.scanStarted }

    private static var scanStarted: [UInt8] { NetworkScanPayload(.responseScanWiFiStart).encoded() }

    private mutating func startScan(_ command: ScanWiFiStartCommand, now: UInt64) -> HandlerResult {
        // A second start succeeds without doing anything, not even waiting.
        guard !scan.isRunning else { return .reply(Self.scanStarted) }
        scan = ScanState()
        scan.isRunning = true
        // The firmware hands it on as a byte.
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

    /// The driver has reported the end of a scan. Outside `started` the report is ignored: "scanning" then stays set for ever.
    mutating func advanceScan(now: UInt64) {
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
