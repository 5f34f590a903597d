// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommWire
import RainCore

extension ProtocommBoard {
    /// What firmware keeps of a scan (`CONFIG_NETWORK_PROV_SCAN_MAX_ENTRIES`): asking beyond it drops the connection.
    private var maximumEntries: UInt32 { 16 }
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

    /// Firmware loses the end of a scan that begins while it joins a network, is on one or has failed with one, and never ends another
    /// until it restarts (seen with network_provisioning 1.2.4). A board that has been told nothing
    /// yet says that it is connecting, as one that is: only what it says of its attempts tells them apart.
    private func makeReadyToScan() async throws(ProvisioningError) {
        let status = try await wifiStatus()
        switch (status.state, status.detail) {
        case (.connecting, .attemptFailed?):
            throw ProvisioningError(
                .rejected,
                message:
                    "The board is trying to join a network and cannot look for others. Try again in a moment, or restart it."
            )
        case (.connected, _):
            throw ProvisioningError(
                .rejected,
                message:
                    "The board is on a network already and cannot look for others. Reset it to factory settings to give it another."
            )
        case (.connectionFailed, _):
            // The answer is the same after a reset, which does no harm then. Older firmware refuses the second, or cannot reset at all.
            do {
                try await reset()
            } catch {
                guard [.rejected, .unsupported].contains(error.code) else { throw error }
                logger.debug("board did not reset before its scan", metadata: ["peer": "\(peer)"])
            }
        default: return
        }
    }
}

extension AccessPoint {
    init(_ entry: WiFiScanResult) {
        self.init(
            ssid: SSID(Array(entry.ssid.prefix(32))), bssid: Array(entry.bssid.prefix(6)), channel: Int(entry.channel),
            rssi: Int(entry.rssi), protection: NetworkProtection(rawValue: Int(entry.authentication.rawValue)))
    }
}
