// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Synchronization
import Testing

@Suite("Secrets in a board's log, by their names")
struct SecretMeaningTests {
    /// `hunter22` is the secret.
    static let lines = [
        // The examples of arduino-esp32, and what people make of them.
        #"Provisioning Started with name "PROV_1234" and PoP "hunter22" on SoftAP"#,
        "[  1234][I][WiFiProv.cpp:147] beginProvision(): Starting AP using BLE. service_name : PROV_1, pop : hunter22",
        "Starting provisioning AP using SOFTAP. service_name : PROV_1, password : hunter22, pop : hunter22",
        " pop : hunter22", "POP=hunter22", "pop: hunter22", "Pop->hunter22", "Pop -> hunter22", "PoP => hunter22",
        "PoP - hunter22", "PoP | hunter22", "PoP\thunter22", "PoP hunter22 on BLE", "PoP (hunter22)", "PoP: [hunter22]",
        "PoP 'hunter22'", "PoP `hunter22`", "PoP \u{201C}hunter22\u{201D}", "pop:=hunter22", "Your PoP is hunter22",
        "proof of possession: hunter22", "Proof-of-Possession = hunter22", "device_pop=hunter22", "wifiPop: hunter22",
        "PoP, hunter22", "PoP\u{FF1A}hunter22", "pop \u{2192} hunter22", "provision --pop hunter22",
        // Wi-Fi passwords.
        "\tPassword : hunter22", "Password (8 characters): hunter22", "PASSWORD=hunter22", "WiFi Passphrase: hunter22",
        "pass phrase: hunter22", "ap_password:hunter22", "wifiPassword = hunter22", "WIFI_PASS=hunter22",
        "psk: hunter22",
        "pwd=hunter22", "passwd hunter22", "my password is hunter22", #"Connecting with password "hunter22"..."#,
        "Service key: hunter22", #"AT+CWJAP="Home","hunter22""#, "network={ psk=\"hunter22\" }",
        // Structured texts.
        #"{"pop":"hunter22","name":"a"}"#, #"{ "pop" : "hunter22" }"#, #"{'pop': 'hunter22'}"#, #"{"POP":"hunter22"}"#,
        #"{"wifi_password":"hunter22"}"#, #"{\"pop\":\"hunter22\",\"x\":1}"#, #"{"secretKey":"hunter22"}"#,
        #"{"pop":"a\"hunter22","name":"b"}"#, "<pop>hunter22</pop>", "pop=hunter22&name=PROV_1",
        #"data=%7B%22ver%22%3A%22v1%22%2C%22pop%22%3A%22hunter22%22%7D"#,
        #"data=%7b%22wifi_pop%22%3a%22hunter22%22%7d"#, #"{&quot;pop&quot;:&quot;hunter22&quot;}"#,
        "NP%3APROV_1%7Chunter22%7Cb", "qrcode.html?data=NP:PROV_1%7Chunter22%7Cb",
        // Others.
        "secret = hunter22", "user_secret=hunter22", "Got user_id = u, secret_key = hunter22", "access_token: hunter22",
        "refreshToken=hunter22", "private key: hunter22", "credentials: hunter22",
    ]

    @Test("are not shown in any case and punctuation", arguments: lines)
    func masked(line: String) {
        let shown = LogMask.text(Array(line.utf8))
        #expect(shown.contains("***") && !shown.contains("ter22"), "\(shown)")
        let coloured = LogMask.text(Array("\u{1B}[0;32mI (9) app: \(line)\u{1B}[0m".utf8))
        #expect(!coloured.contains("ter22"), "\(coloured)")
    }

    @Test("a number in JSON is a value, too, and the members behind it stay")
    func number() {
        #expect(
            LogMask.text(Array(#"{"pop":12345678,"name":"PROV_1"}"#.utf8)) == #"{"pop":***,"name":"PROV_1"}"#)
        #expect(LogMask.text(Array(#"{"pop":"","name":"PROV_1"}"#.utf8)) == #"{"pop":"","name":"PROV_1"}"#)
    }

    static let harmless = [
        "E (9) app_wifi: Failed to get PoP from NVS, Please perform Claiming.",
        "E (9) app_network: Received incorrect PoP or invalid security params!",
        "W (9) app_network: Max PoP attempts reached! Please reboot.", "PoP is required for security version 2",
        "I (9) app_wifi: Received Wi-Fi credentials", "Wi-Fi AP password incorrect", "stop: 3", "population = 12",
        "I (9) app_network: Secured session established!", "passive scan: 3", "the password isn't set",
        "compass: 12", "I (44) boot: Loaded app from partition at offset 0x20000",
    ]

    @Test("sentences about secrets stay as they are", arguments: harmless)
    func kept(line: String) { #expect(LogMask.text(Array(line.utf8)) == line) }

    private func shown(_ lines: [String]) -> [String] {
        let shown = Mutex<[String]>([])
        let log = DeviceLog(now: { .zero }, line: { line in shown.withLock { $0.append(line) } })
        log.take(Array(lines.map { $0 + "\r\n" }.joined().utf8))
        return shown.withLock { $0 }
    }

    @Test("a value in the line behind its name is not shown, and the board's own lines are")
    func nextLine() {
        #expect(
            shown(["PoP:", "hunter22", "hunter22 is no secret here"])[1...] == ["***", "hunter22 is no secret here"])
        #expect(shown(["Password :", "I (9) wifi: connected"])[1] == "I (9) wifi: connected")
        #expect(shown(["Password :", "ESP-ROM:esp32c3-api1-20210207"])[1] == "ESP-ROM:esp32c3-api1-20210207")
    }

    @Test("no end of a line that holds a secret makes the mask fail")
    func truncations() {
        for line in Self.lines {
            let bytes = Array(line.utf8)
            for count in 0...bytes.count { _ = LogMask.text(Array(bytes[..<count])) }
            for count in 0...bytes.count { _ = LogMask.text(Array(bytes[count...])) }
        }
    }
}
