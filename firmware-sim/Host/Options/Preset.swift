// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore

/// Firmware by its version: its provisioning component, and its default build.
enum Preset: String, ExpressibleByArgument, CaseIterable {
    /// The present version: Security 2, challenge–response; a failed join is repeated and then forgotten.
    case rainMaker114 = "rainmaker-1.14"
    /// The first version with challenge–response, which came with Security 1.
    case rainMaker185 = "rainmaker-1.8.5"
    /// On ESP-IDF 4.4: Security 1, and the secret that board and user both report.
    case rainMaker10 = "rainmaker-1.0"
    /// ESP-IDF's own example `wifi_prov`, which has no accounts.
    case idf60 = "idf-6.0"
    case idf55 = "idf-5.5"
    case idf51 = "idf-5.1"
    case idf50 = "idf-5.0"
    case idf44 = "idf-4.4"

    var firmware: Firmware {
        switch self {
        case .rainMaker114:
            Firmware(security: 2, mapping: .challengeResponse, attempts: 3, resetsOnFailure: true)
        case .rainMaker185:
            Firmware(
                security: 1, mapping: .challengeResponse, attempts: 3, resetsOnFailure: true, refusesIdleReset: true)
        case .rainMaker10:
            Firmware(security: 1, patch: 0, mapping: .user, component: .wifiProvisioning44)
        case .idf60: Firmware(security: 2, customEndpoint: "custom-data")
        case .idf55:
            Firmware(
                security: 2, component: .wifiProvisioning51, refusesIdleReset: true, customEndpoint: "custom-data")
        case .idf51:
            Firmware(
                security: 2, patch: 0, component: .wifiProvisioning51, refusesIdleReset: true,
                customEndpoint: "custom-data")
        case .idf50: Firmware(security: 2, patch: 0, component: .wifiProvisioning50, customEndpoint: "custom-data")
        case .idf44: Firmware(security: 1, patch: 0, component: .wifiProvisioning44, customEndpoint: "custom-data")
        }
    }
}

/// The properties of a firmware's build that a client can observe.
struct Firmware: Equatable {
    /// 0, 1 or 2.
    var security: Int
    /// 0: its protocomm is older than `sec_patch_ver`.
    var patch = 1
    var mapping = MappingOption.none
    var component = DeviceConfiguration.Component.networkProvisioning
    var attempts: UInt32 = 0
    var resetsOnFailure = false
    /// As before network_provisioning 1.2.1.
    var refusesIdleReset = false
    var customEndpoint: String?
}

extension FirmwareSim {
    /// The preset's firmware, changed by the options.
    var firmware: Firmware {
        var firmware = (kind.preset ?? .rainMaker114).firmware
        // The lines of protocomm's console are too short for Security 2, and only Security 1 works without a proof of possession.
        let hasShortLines = listening.hasConsole && listening.consoleDialect == .protocomm
        if kind.noPop || kind.preset == nil && hasShortLines { firmware.security = min(firmware.security, 1) }
        firmware.security = kind.security ?? firmware.security
        firmware.patch = kind.patch ?? firmware.patch
        firmware.mapping = kind.mapping ?? firmware.mapping
        firmware.customEndpoint = kind.customEndpoint ?? firmware.customEndpoint
        firmware.attempts = radio.attempts ?? firmware.attempts
        firmware.resetsOnFailure = radio.resetOnFailure ?? firmware.resetsOnFailure
        return firmware
    }
}
