// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore
import RainCore

extension ProtocommBoard {
    /// Firmware keeps 16 entries of a scan unless it is built for more, at most 255 (`CONFIG_NETWORK_PROV_SCAN_MAX_ENTRIES`). What counts
    /// is what it says that it has, since asking beyond that drops the connection; this only bounds it.
    private var maximumEntries: UInt32 { 256 }
    /// How many entries fit in an answer on every transport.
    private var page: UInt32 { 4 }

    /// Has the board look around and reads what it found, in pages that never ask for more than there is.
    ///
    /// The scan runs in the background of the board, channel group by channel group, so that its access point stays alive.
    public func scan() async throws(ProvisioningError) -> [AccessPoint] {
        try await makeReadyToScan()
        let start = ScanWiFiStartCommand(isBlocking: false, isPassive: false, groupChannels: 5, periodMilliseconds: 120)
        let started = try await ask(NetworkScanPayload(.commandScanWiFiStart(start)), on: .scan)
        guard started.status == .success else { throw .rejected("the scan", status: started.status.rawValue) }

        var schedule = PollSchedule.boardStatus
        let began = time.elapsed()
        var count: UInt32 = 0
        while true {
            try await pause(schedule.next())
            let answer = try await ask(NetworkScanPayload(.commandScanWiFiStatus), on: .scan)
            guard answer.status == .success, case .responseScanWiFiStatus(let status)? = answer.payload else {
                throw .unexpectedAnswer(on: .scan)
            }
            count = status.resultCount
            if status.isFinished { break }
            guard time.elapsed() - began < .seconds(30) else {
                throw ProvisioningError(
                    .deviceLost,
                    message: "The board's scan does not end. Restart the board, or name the network.",
                    remedies: [.networkName])
            }
        }

        var found: [AccessPoint] = []
        let total = min(count, maximumEntries)
        while UInt32(found.count) < total {
            let index = UInt32(found.count)
            let command = ScanResultCommand(startIndex: index, count: min(page, total - index))
            let answer = try await ask(NetworkScanPayload(.commandScanWiFiResult(command)), on: .scan)
            guard answer.status == .success, case .responseScanWiFiResult(let result)? = answer.payload,
                !result.entries.isEmpty, result.entries.count <= Int(command.count)
            else { throw .unexpectedAnswer(on: .scan) }
            found += result.entries.map { AccessPoint($0) }
        }
        return found.sorted { $0.rssi > $1.rssi }
    }
}

extension AccessPoint {
    init(_ entry: WiFiScanResult) {
        self.init(
            ssid: SSID(Array(entry.ssid.prefix(32))), bssid: Array(entry.bssid.prefix(6)), channel: Int(entry.channel),
            rssi: Int(entry.rssi), protection: NetworkProtection(rawValue: Int(entry.authentication.rawValue)))
    }
}
