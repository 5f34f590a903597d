// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// Scripts depend on these numbers and words.
@Suite("Exit codes")
struct ExitStatusTests {
    static let contract: [(number: Int32, code: String)] = [
        (0, "ok"), (1, "other"), (10, "wrong_pop"), (11, "wifi_auth_failed"), (12, "wifi_ap_not_found"),
        (13, "mapping_failed"), (14, "device_lost"), (15, "security_mismatch"), (16, "deadline"), (17, "claim_needed"),
        (20, "batch_partial"), (64, "usage"), (65, "bad_data"), (69, "unavailable"), (73, "cannot_write"),
        (75, "temporary"), (77, "auth"), (78, "config"), (130, "cancelled"),
    ]

    @Test("are those of the contract, no more and no fewer")
    func numbers() {
        #expect(rainctl.ExitStatus.allCases.count == Self.contract.count)
        for (number, code) in Self.contract {
            #expect(rainctl.ExitStatus(rawValue: number)?.name == code, "\(number)")
        }
    }

    @Test("belong to the causes that they are named after")
    func cases() {
        #expect(rainctl.ExitStatus.wifiAuthFailed.rawValue == 11 && rainctl.ExitStatus.wifiApNotFound.rawValue == 12)
        #expect(rainctl.ExitStatus.wrongPop.rawValue == 10 && rainctl.ExitStatus.deviceLost.rawValue == 14)
        #expect(
            rainctl.ExitStatus.usage.rawValue == 64 && rainctl.ExitStatus.badData.rawValue == 65
                && rainctl.ExitStatus.config.rawValue == 78)
    }

    @Test("are explained in docs/exit-codes.md, each by its number and word")
    func page() throws {
        let page = try readFile(Repository.path("docs/exit-codes.md"))
        for (number, code) in Self.contract where number != 0 {
            #expect(page.contains("| \(number) | `\(code)` |"), "\(number)")
        }
    }
}
