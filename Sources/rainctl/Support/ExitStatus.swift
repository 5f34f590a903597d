// SPDX-License-Identifier: Apache-2.0

/// How a command ended. The names are the `code` of JSON errors; docs/exit-codes.md explains each.
enum ExitStatus: Int32, CaseIterable {
    case ok = 0
    case other = 1
    case wrongPop = 10
    case wifiAuthFailed = 11
    case wifiApNotFound = 12
    case mappingFailed = 13
    case deviceLost = 14
    case securityMismatch = 15
    case deadline = 16
    case claimNeeded = 17
    case batchPartial = 20
    case usage = 64
    case badData = 65
    case unavailable = 69
    case cannotWrite = 73
    case temporary = 75
    case auth = 77
    case config = 78
    case cancelled = 130

    var name: String {
        switch self {
        case .ok: "ok"
        case .other: "other"
        case .wrongPop: "wrong_pop"
        case .wifiAuthFailed: "wifi_auth_failed"
        case .wifiApNotFound: "wifi_ap_not_found"
        case .mappingFailed: "mapping_failed"
        case .deviceLost: "device_lost"
        case .securityMismatch: "security_mismatch"
        case .deadline: "deadline"
        case .claimNeeded: "claim_needed"
        case .batchPartial: "batch_partial"
        case .usage: "usage"
        case .badData: "bad_data"
        case .unavailable: "unavailable"
        case .cannotWrite: "cannot_write"
        case .temporary: "temporary"
        case .auth: "auth"
        case .config: "config"
        case .cancelled: "cancelled"
        }
    }
}
