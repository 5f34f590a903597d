// SPDX-License-Identifier: Apache-2.0
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

    /// What an application prints instead of a code.
    struct Announcement {
        let name: String
        var proof: ProofOfPossession?
        var transport: QRPayload.Transport?
        /// Of the board's access point.
        var passphrase: Secret?
    }

    /// Name and proof in a line of their own, as applications printed them before August 2024 and as Arduino sketches still do.
    static func announcement(in line: DeviceLogLine) -> Announcement? {
        let found = application(line.text) ?? sketch(line.whole) ?? library(line.whole)
        return found.flatMap { isName($0.name) ? $0 : nil }
    }

    /// `Provisioning Started. Name : PROV_a1b2c3, POP : abcd1234`; `<null>` means that there is no proof.
    private static func application(_ text: String) -> Announcement? {
        guard let rest = text.after("Provisioning Started. Name : "), let proof = rest.behind(", POP : ") else {
            return nil
        }
        let name = rest.dropLast(proof.count + ", POP : ".count)
        return Announcement(name: String(name), proof: self.proof(proof))
    }

    /// `Provisioning Started with name "PROV_1234" and PoP "abcd1234" on SoftAP`, of the RainMaker examples of arduino-esp32.
    private static func sketch(_ text: String) -> Announcement? {
        guard let rest = text.after("Provisioning Started with name \""), let behind = rest.behind("\" and PoP \"")
        else { return nil }
        let name = rest.dropLast(behind.count + "\" and PoP \"".count)
        guard let on = behind.behind("\" on ") else { return nil }
        let proof = behind.dropLast(on.count + "\" on ".count)
        return Announcement(
            name: String(name), proof: self.proof(proof), transport: on.hasPrefix("SoftAP") ? .softap : .ble)
    }

    /// `[ 123][I][WiFiProv.cpp:147] beginProvision(): Starting provisioning AP using SOFTAP. service_name : PROV_1, password : p, pop : x`, of
    /// arduino-esp32's WiFiProv library.
    private static func library(_ text: String) -> Announcement? {
        guard let rest = text.behind(" using BLE. service_name : ") ?? text.behind(" using SOFTAP. service_name : "),
            let proof = rest.behind(", pop : ")
        else { return nil }
        let middle = rest.dropLast(proof.count + ", pop : ".count)
        var found = Announcement(name: String(middle), proof: self.proof(proof), transport: .ble)
        guard text.behind(" using SOFTAP. ") != nil else { return found }
        found.transport = .softap
        guard let password = middle.behind(", password : ") else { return found }
        let name = middle.dropLast(password.count + ", password : ".count)
        return Announcement(
            name: String(name), proof: found.proof, transport: .softap, passphrase: Secret(String(password)))
    }

    /// `printf` writes `(null)` for a pointer to nothing, and older applications `<null>`.
    private static func proof(_ text: Substring) -> ProofOfPossession? {
        text == "<null>" || text == "(null)" || text.isEmpty ? nil : ProofOfPossession(String(text))
    }

    /// A name that can be advertised, and shown.
    static func isName(_ text: some StringProtocol) -> Bool {
        (1...32).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
