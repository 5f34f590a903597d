// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore

/// The board's own log as it comes over the UART: `I (ms) tag: text`, in colours.
struct BoardLog {
    enum Level { case info, warning, error }

    /// When the board was switched on.
    var bootTime: UInt64

    var uptime: UInt64 { MonotonicClock.now - min(bootTime, MonotonicClock.now) + 312 }

    func line(_ level: Level, _ tag: String, _ text: String) -> [UInt8] {
        let (letter, colour) =
            switch level {
            case .info: ("I", 32)
            case .warning: ("W", 33)
            case .error: ("E", 31)
            }
        let text = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        return Array("\u{1B}[0;\(colour)m\(letter) (\(uptime)) \(tag): \(text)\u{1B}[0m\r\n".utf8)
    }

    /// What the firmware prints when that happens. The passphrase, which real firmware does print, is left out.
    func lines(for event: DeviceEvent, address: String) -> [UInt8] {
        func manager(_ level: Level, _ text: String) -> [UInt8] { line(level, "network_prov_mgr", text) }
        // Two files of one application, each with a tag of its own.
        func application(_ level: Level, _ text: String) -> [UInt8] { line(level, "app_wifi", text) }
        func network(_ level: Level, _ text: String) -> [UInt8] { line(level, "app_network", text) }
        func lost(_ reason: DisconnectReason) -> [UInt8] {
            manager(.error, "STA Disconnected") + manager(.error, "Disconnect reason : \(reason.rawValue)")
        }
        switch event {
        case .sessionOpened, .scanStarted, .scanFinished, .challengeSigned, .serviceStopping: return []
        case .sessionEstablished: return network(.info, "Secured session established!")
        case .wrongProof:
            return network(.error, "Received incorrect username and/or PoP for establishing secure session!")
        case .credentialsReceived(let ssid):
            return application(
                .info, "Received Wi-Fi credentials\n\tSSID     : \(String(decoding: ssid, as: UTF8.self))")
        // A manager that counts the attempts counts in silence; one that does not tries for ever, and says why each time.
        case .attemptFailed(let reason, let remaining): return remaining > 0 ? [] : lost(reason)
        case .disconnected(let reason):
            return line(.info, "wifi", "state: run -> init (\(reason.rawValue))")
                + application(.info, "Disconnected. Connecting to the AP again...")
        case .joinFailed(let reason, let failure):
            let verdict = reason.failure.map {
                manager(.error, $0 == .networkNotFound ? "STA AP Not found" : "STA Auth Error")
            }
            // The application is handed what the manager kept of an earlier failure where it makes nothing of this one.
            let told = failure == .networkNotFound ? "access-point not found" : "station authentication failed"
            return lost(reason) + (verdict ?? [])
                + application(
                    .error,
                    """
                    Provisioning failed!
                    \tReason : Wi-Fi \(told)
                    \tPlease reset to factory and retry provisioning
                    """)
        case .resetAfterFailure:
            return application(
                .info, "Failed to connect with provisioned AP, reseting provisioned credentials")
        case .joined(let ssid, let channel):
            let name = String(decoding: ssid, as: UTF8.self)
            let gateway = address.split(separator: ".").dropLast().joined(separator: ".") + ".1"
            return line(.info, "wifi", "connected with \(name), aid = 1, channel \(channel), BW20")
                + line(.info, "esp_netif_handlers", "sta ip: \(address), mask: 255.255.255.0, gw: \(gateway)")
                + manager(.info, "STA Got IP") + network(.info, "Connected with IP Address:\(address)")
                + application(.info, "Provisioning successful")
        case .customDataReceived(let data): return line(.info, "app", "Received \(data.count) bytes of custom data")
        case .parametersReceived: return line(.info, "esp_rmaker_prov_local_ctrl", "Set params handler invoked")
        case .userMappingReceived: return line(.info, "esp_rmaker_user_mapping", "User Node mapping data received.")
        case .claimStarted: return line(.info, "esp_claim", "Assisted Claiming Started.")
        case .certificateRequested: return []
        case .claimed: return line(.info, "esp_claim", "Assisted Claiming was Successful.")
        case .claimAborted: return line(.warning, "esp_claim", "Assisted Claiming Aborted.")
        case .claimRefused(let status):
            return line(.error, "esp_claim", "Claim step refused with status \(status.rawValue).")
        case .claimOver:
            return line(
                .error, "esp_claim", "Claim data cannot be NULL. Cannot proceed with Assisted Claiming.")
        case .rebooted: return Array("ESP-ROM:esp32c3-api1-20210207\r\nrst:0xc (RTC_SW_CPU_RST)\r\n".utf8)
        // core/esp_rmaker_on_network_chal_resp.c of esp-rainmaker.
        case .onNetworkStarted:
            return line(.info, "on_network_chal_resp", "On-network challenge-response service started successfully")
        case .onNetworkProofRefused: return []
        case .onNetworkDisabled:
            return line(.info, "on_network_chal_resp", "Disabling challenge-response for on-network service")
                + line(.info, "on_network_chal_resp", "Service stop scheduled in 2000 ms")
        // core/esp_rmaker_local_ctrl.c.
        case .localControlStarted:
            return line(.info, "esp_rmaker_local", "Local Control Service Enabled")
        case .onNetworkStopped:
            return line(.info, "on_network_chal_resp", "On-network challenge-response service stopped")
        case .serviceStopped:
            return manager(.info, "Provisioning stopped") + network(.info, "Provisioning ended")
        }
    }
}
