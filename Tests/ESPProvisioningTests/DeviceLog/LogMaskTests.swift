// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Testing

@Suite("Secrets in a board's log")
struct LogMaskTests {
    @Test(
        "are not shown",
        arguments: [
            "\tPassword : hunter22", "I (9) app_wifi: Provisioning Started. Name : PROV_a1b2c3, POP : hunter22",
            #"I (9) app_main: Provisioning QR : {"ver":"v1","name":"PROV_a1b2c3","pop":"hunter22","transport":"ble"}"#,
            #"https://x/qrcode.html?data=%7B%22pop%22:%22hunter22%22%7D"#,
            #"{"name":"a","pop": "hunter22"}"#,
            "https://rainmaker.espressif.com/qrcode.html?data=NP:PROV_a1b2c3|hunter22|b",
            "https://rainmaker.espressif.com/qrcode.html?data=NP:PROV_a1b2c3|hun|ter22|b",
            "I (9) esp_rmaker_user_mapping: Got user_id = u, secret_key = hunter22",
            #"I (9) esp_rmaker_user_mapping: MQTT Publish: {"node_id":"n","secret_key":"hunter22"}"#,
            ">> wifi-prov Home hunter22", ">> add-user u hunter22", #"{"password":"hunter22"}"#,
            "D (1) ot: Network Key hunter22",
        ])
    func masked(line: String) {
        let shown = LogMask.text(Array(line.utf8))
        #expect(shown.contains("***") && !shown.contains("ter22"), "\(shown)")
    }

    @Test("nothing else is changed, but colours and drawn codes")
    func kept() {
        #expect(
            LogMask.text(Array("I (9) wifi:mode : sta (60:55:f9:f6:03:3c)".utf8))
                == "I (9) wifi:mode : sta (60:55:f9:f6:03:3c)")
        #expect(LogMask.text(Array("\u{1B}[0;32mI (9) a: b\u{1B}[0m".utf8)) == "I (9) a: b")
        #expect(LogMask.text(Array(String(repeating: "\u{2588}", count: 9).utf8)) == "(QR code)")
        #expect(LogMask.text(Array("\tSSID     : Home".utf8)) == "\tSSID     : Home")
    }
}
