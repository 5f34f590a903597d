// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Testing
import RainCore

@Suite("QR codes")
struct QRPayloadTests {
    @Test(
        "all forms of a code say the same",
        arguments: [
            #"{"ver":"v1","name":"PROV_a1b2c3","pop":"abcd1234","transport":"ble"}"#,
            #"https://rainmaker.espressif.com/qrcode.html?data={"ver":"v1","name":"PROV_a1b2c3","pop":"abcd1234","transport":"ble"}"#,
            "https://example.com/q?data=%7B%22name%22:%22PROV_a1b2c3%22,%22pop%22:%22abcd1234%22,%22transport%22:%22ble%22%7D",
            "NP:PROV_a1b2c3|abcd1234|b", "NP:PROV_a1b2c3|abcd1234|b\n", "\n  NP:PROV_a1b2c3|abcd1234|b\r\n",
            "https://rainmaker.espressif.com/qrcode.html?data=NP:PROV_a1b2c3|abcd1234|b",
            "https://rainmaker.espressif.com/qrcode.html?data=NP%3APROV_a1b2c3%7Cabcd1234%7Cb",
            #"https://espressif.github.io/esp-jumpstart/qrcode.html?data={"ver":"v1","name":"PROV_a1b2c3","pop":"abcd1234","transport":"ble"}"#,
            #"HTTPS://RAINMAKER.ESPRESSIF.COM/qrcode.html?data={"ver":"v1","name":"PROV_a1b2c3","pop":"abcd1234","transport":"ble","network":"wifi"}"#,
            #"{"ver":"v1","name":"PROV_a1b2c3","username":"wifiprov","pop":"abcd1234","transport":"ble","security":2}"#,
        ])
    func forms(text: String) throws {
        let code = try QRPayload(Array(text.utf8))
        #expect(code.name == "PROV_a1b2c3")
        #expect(code.proofOfPossession?.secret.revealString() == "abcd1234")
        #expect(code.transport == .ble)
    }

    @Test(
        "raw text behind data= is not percent-decoded, and encoded text is",
        arguments: [
            (#"https://e.example/?data={"name":"PROV_1","pop":"a%41b"}"#, "PROV_1", "a%41b"),
            (#"https://e.example/?data={"name":"100%25","pop":"%%"}"#, "100%25", "%%"),
            ("https://e.example/?data=NP:PROV_1|a%41b|b", "PROV_1", "a%41b"),
            ("https://e.example/?data=%7B%22name%22%3A%22PROV_1%22%2C%22pop%22%3A%22a%2541b%22%7D", "PROV_1", "a%41b"),
            (#"https://e.example/?data= {"name":"PROV_1","pop":"%20"}"#, "PROV_1", "%20"),
            ("https://e.example/?data={%22name%22:%22PROV_1%22,%22pop%22:%22aAb%22}", "PROV_1", "aAb"),
        ])
    func rawData(text: String, name: String, proof: String) throws {
        for mark in [[], [0xEF, 0xBB, 0xBF]] as [[UInt8]] {
            let code = try QRPayload(mark + Array(text.utf8))
            #expect(code.name == name && code.proofOfPossession?.secret.revealString() == proof)
        }
    }

    @Test("a code without a proof of possession has none")
    func withoutProof() throws {
        #expect(try QRPayload(Array("NP:PROV_a1b2c3||s".utf8)).proofOfPossession == nil)
        let json = #"{"ver":"v1","name":"PROV_a1b2c3","transport":"softap"}"#
        let code = try QRPayload(Array(json.utf8))
        #expect(code.proofOfPossession == nil)
        #expect(code.transport == .softap)
    }

    @Test("the compact form means the user of Security 2, and escapes nothing")
    func compact() throws {
        let code = try QRPayload(Array("NP:PROV_a1b2c3|ab|cd|s".utf8))
        #expect(code.name == "PROV_a1b2c3" && code.username == "wifiprov" && code.transport == .softap)
        #expect(code.proofOfPossession?.secret.revealString() == "ab|cd")
        #expect(code.securityVersion == nil && code.network == nil)
    }

    @Test(
        "the compact form takes no name with a bar in it, whatever follows the bar", arguments: ["a|b", "a|\u{301}b"])
    func bar(name: String) {
        let error = #expect(throws: BoardError.self) {
            try QRPayload.text(name: name, proof: nil, transport: .ble, form: .compact)
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test("what is too long for a code is named")
    func tooLong() {
        let long = String(repeating: "x", count: 4000)
        for (name, proof, words) in [
            ("PROV_1", long, "the proof of possession is too long (4000 bytes)"),
            (long, "abcd", "the board's name is too long (4000 bytes)"),
        ] {
            let error = #expect(throws: BoardError.self) {
                try QRPayload.text(name: name, proof: ProofOfPossession(proof), transport: .ble)
            }
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
    }

    @Test(
        "a scheme is 0, 1 or 2, and nothing is made of its absence",
        arguments: [(nil, nil), (0, 0), (1, 1), (2, 2)] as [(Int?, Int?)])
    func security(given: Int?, expected: Int?) throws {
        let member = given.map { #","security":\#($0)"# } ?? ""
        #expect(try QRPayload(Array(#"{"name":"X"\#(member)}"#.utf8)).securityVersion == expected)
    }

    @Test("what the apps add is understood")
    func extras() throws {
        let json =
            #"{"ver":"v1","name":"X","username":"wifiprov","pop":"p","transport":"softap","security":2,"password":"ap-pass"}"#
        let code = try QRPayload(Array(json.utf8))
        #expect(code.username == "wifiprov")
        #expect(code.securityVersion == 2)
        #expect(code.network == nil)
        #expect(try QRPayload(Array(#"{"name":"X","network":"thread"}"#.utf8)).network == "thread")
        #expect(code.accessPointPassphrase?.revealString() == "ap-pass")
    }

    @Test(
        "what is not a code is refused with a reason",
        arguments: [
            "", "{}", "NP:", "NP:name", "NP:||b", "http://example.com", #"{"name":""}"#, "hello", "{\"name\":1}",
            "NP:name|", "NP:name||", "NP:name||x", "NP:name||bb", "NP:|p|b", "np:name||b",
            #"{"name":"X","security":3}"#,
            #"{"name":"X","security":-1}"#, "https://x/?data=", "https://x/?data=NP:",
        ])
    func nonsense(text: String) {
        #expect(throws: BoardError.self) { try QRPayload(Array(text.utf8)) }
    }

    @Test(
        "what people scan or give in the place of a board's code is named",
        arguments: [
            ("", "empty"), (" \n", "empty"), ("WIFI:T:WPA;S:Home;P:planted;;", "Wi-Fi network"),
            ("MT:Y.K9042C00KA0648G00", "Matter"),
            ("X-HM://0023ISYWY1CJ8", "HomeKit"), ("DPP:V:2;K:MDk;;", "Easy Connect"), ("<html></html>", "web page"),
            ("a\0b", "not text"),
            ("[\"PROV_1\"]", "not an object"), ("7", "not an object"), ("{\"name\":\"PROV_1\",", "JSON is damaged"),
            ("hello", "neither JSON"), ("PROV_1", "only the name of a board"), ("4006381333931", "article number"),
            ("Z:00124B001F8A1B2C$I:83FED3407A939723", "Zigbee"),
            ("https://example.com/p/planted", "a web address without a board's data"),
        ])
    func foreign(text: String, words: String) {
        let error = #expect(throws: BoardError.self) { try QRPayload(Array(text.utf8)) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("planted") == false)
    }

    @Test("bytes that are not UTF-8 are not a code")
    func binary() {
        let error = #expect(throws: BoardError.self) { try QRPayload([0xFF, 0xFE, 0x41]) }
        #expect(error?.message.contains("not text") == true)
    }

    @Test(
        "a code's text is distinguished from the name of a missing file",
        arguments: [
            ("label.png", false), ("./qr", false), ("/tmp/qr.json", false), ("PROV_a1b2c3", false), ("a:b", false),
            ("NP:PROV_1|pop|b", true), ("{\"name\":\"PROV_1\"}", true), ("https://example.com", true),
            ("WIFI:S:Home;;", true),
            ("MT:Y.K9042C00KA0648G00", true), ("<svg", true), ("./a:b", false),
        ])
    func fileName(text: String, isCode: Bool) { #expect(QRPayload.mayBeCode(text) == isCode) }

    @Test(
        "a text that names no file and is no code is reported as neither",
        arguments: [
            ("PROV_a1b2c3", "PROV_a1b2c3 is neither a file nor a board's QR code: it is only the name of a board."),
            ("4006381333931", "it is an article number (barcode)."),
            ("Z:00124B$I:83FE", "the install code of a Zigbee device."),
            ("label", "label is neither a file nor a board's QR code."),
        ])
    func neither(text: String, words: String) {
        #expect(QRPayload.messageForNeither(text)?.contains(words) == true)
    }

    @Test("a path of a missing file, and a code, are not", arguments: ["label.png", "./qr", "NP:PROV_1|pop|b", ""])
    func path(text: String) { #expect(QRPayload.messageForNeither(text) == nil) }

    @Test("every prefix of a code is a code or refused, and nothing else")
    func prefixes() {
        let text = Array(#"https://x/q?data={"ver":"v1","name":"PROV_a1b2c3","pop":"%41","transport":"ble"}%"#.utf8)
        for length in 0...text.count {
            do { _ = try QRPayload(Array(text.prefix(length))) } catch { #expect(error.code == .malformed) }
        }
    }
}
