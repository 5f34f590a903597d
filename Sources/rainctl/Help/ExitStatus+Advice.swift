// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

extension ExitStatus {
    /// What a user of rainctl can try; nil if the message says everything. docs/exit-codes.md has the same text.
    var advice: String? {
        switch self {
        case .ok, .badData, .cancelled: nil
        case .other: "read the message; `doctor` also exits with 1 if a check has failed"
        case .wrongPop:
            "read the proof from the board's label or QR code; with Security 2 also give the user name (`--username`)"
        case .wifiAuthFailed: "check the Wi-Fi password, and run again"
        case .wifiApNotFound: "check the name; use 2.4 GHz; move the board nearer to the access point"
        case .mappingFailed: "run again; for `not_reported` use the profile of the board's own deployment"
        case .deviceLost: "check power and distance; run again"
        case .securityMismatch:
            "omit `--sec-ver`; use another transport; if you are sure that this is the right board, accept it with `--sec-ver 0`"
        case .deadline: "the message names the step; allow more time with `--timeout`"
        case .claimNeeded:
            "follow the message: give the profile a claim service with `profile set NAME --claim-url URL`, use another transport, restart "
                + "the board, or run again; or give `--no-mapping`"
        case .batchPartial: "the JSON document lists each board; run again for the boards that failed"
        case .usage: "see `--help`"
        case .unavailable: "check cable, power and address"
        case .cannotWrite: "check permissions and free space"
        case .temporary:
            "run the same command again; close the serial monitor, or the other client"
        case .auth:
            "sign in with `rainctl login`, or sign up with `rainctl account signup`; `rainctl provision` offers both at a terminal"
        case .config: "look at the settings with `rainctl profile list`"
        }
    }

    /// The meaning and the advice as sentences, for help and the manual.
    var explanation: String {
        [meaning, advice].compactMap { $0?.replacing("`", with: "").asSentence }.joined(separator: " ")
    }
}
