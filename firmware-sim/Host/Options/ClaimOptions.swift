// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore

/// Twelve hex digits, with colons or without.
struct MACAddressOption: ExpressibleByArgument {
    /// Six bytes.
    var address: [UInt8]

    init?(argument: String) {
        let digits = Array(argument.utf8.filter { $0 != UInt8(ascii: ":") })
        guard digits.count == 12 else { return nil }
        let pairs = stride(from: 0, to: 12, by: 2).map { String(decoding: digits[$0..<$0 + 2], as: UTF8.self) }
        address = pairs.compactMap { $0.first == "+" || $0.first == "-" ? nil : UInt8($0, radix: 16) }
        guard address.count == 6 else { return nil }
    }
}

/// A `--claim-fault`: `KEY` or `KEY=VALUE`.
struct ClaimFaultOption: ExpressibleByArgument {
    var fault: ClaimFault

    private static let steps: [String: ClaimFault.Step] = [
        "start": .start, "init": .initiate, "csr": .request, "verify": .certificate, "store": .lastCertificate,
    ]

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count > 1 ? parts[1] : nil) {
        case ("not-ready", nil): fault = .notReady
        case ("oversize-csr", nil): fault = .oversizeRequest
        case ("wrong-csr", nil): fault = .wrongRequest
        case ("lose-fragment", let number?):
            guard let number = Int(number), (1...1000).contains(number) else { return nil }
            fault = .loseFragment(number)
        case ("reboot-at", let name?):
            guard let step = Self.steps[name] else { return nil }
            fault = .reboot(at: step)
        default: return nil
        }
    }
}
