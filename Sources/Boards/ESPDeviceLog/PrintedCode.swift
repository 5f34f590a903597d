// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// The QR code's text where firmware prints it, in the forms of esp-rainmaker's examples and ESP-IDF's own.
enum PrintedCode {
    /// The pages that show a code: RainMaker's (`app_network.c`), and ESP-IDF's for its wifi_prov example. Others, such as HomeKit's, are not
    /// about provisioning.
    private static let pages = [
        "https://rainmaker.espressif.com/qrcode.html?data=",
        "https://espressif.github.io/esp-jumpstart/qrcode.html?data=",
    ]

    enum Reading {
        case code(QRPayload)
        /// A board's code with a member that cannot be used, and the sentence that says so.
        case faulty(String)
    }

    /// Reads the line; nil for a line that only looks as if it held a code.
    static func read(_ line: DeviceLogLine) -> Reading? {
        let whole = line.whole
        var text: Substring?
        if let code = line.text.after("Provisioning QR : ") {
            text = code
        } else if pages.contains(where: { whole.hasPrefix($0) }) {
            text = whole[...]
        }
        guard let text else { return nil }
        do throws(ProvisioningError) {
            let payload = try QRPayload(Array(text.utf8))
            return isName(payload.name) ? .code(payload) : nil
        } catch {
            // Any other error is that of a torn line, or of another project's.
            return error.cause == nil ? nil : .faulty(error.message)
        }
    }

    /// `Provisioning Started. Name : PROV_a1b2c3, POP : abcd1234`, as applications said it before August 2024; `<null>` is no proof.
    static func announcement(in line: DeviceLogLine) -> (name: String, proof: ProofOfPossession?)? {
        guard let rest = line.text.after("Provisioning Started. Name : "), let proof = rest.behind(", POP : ") else {
            return nil
        }
        let name = rest.dropLast(proof.count + ", POP : ".count)
        guard isName(name) else { return nil }
        return (String(name), proof == "<null>" || proof.isEmpty ? nil : ProofOfPossession(String(proof)))
    }

    /// A name that can be advertised, and shown.
    static func isName(_ text: some StringProtocol) -> Bool {
        (1...32).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
