// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainKit
import TestSupport
import Testing

/// A file of boards in each form that spreadsheets and programs write.
@Suite("Files of boards")
struct BatchFileTests {
    /// Reads a text that must be usable.
    private func entries(_ text: String, _ defaults: BatchDefaults = BatchDefaults()) throws -> [BatchEntry] {
        try BatchFile(Array(text.utf8), defaults: defaults).entries
    }

    private static let qr =
        #"{"ver":"v1","name":"PROV_a1b2c3","username":"wifiprov","pop":"abcd1234","transport":"ble"}"#
    private static var quotedQR: String { "\"\(qr.replacing("\"", with: "\"\""))\"" }

    @Test("every column reaches the entry")
    func everyColumn() throws {
        let text = """
            qr,name,port,address,transport,pop,ssid,passphrase,tags,metadata,group,node_name,custom_data
            \(Self.quotedQR),Bench 1,/dev/ttyUSB0,,serial,efgh5678,Plant,plant-secret,"room:kitchen, floor:2","{""serial"":7}",Line A,Lamp 1,hello

            """
        let entry = try #require(try entries(text).first)
        #expect(entry.line == 2)
        #expect(entry.name == "Bench 1")
        #expect(entry.label == "PROV_a1b2c3")
        #expect(entry.address == .serial("/dev/ttyUSB0"))
        #expect(entry.proof == "efgh5678")
        #expect(entry.username == "wifiprov")
        #expect(entry.network?.ssid == SSID("Plant"))
        #expect(entry.network?.passphrase == Secret("plant-secret"))
        #expect(entry.notes == MappingNotes(tags: ["room:kitchen", "floor:2"], metadata: #"{"serial":7}"#))
        #expect(entry.group == "Line A")
        #expect(entry.nodeName == "Lamp 1")
        #expect(entry.customData.map(\.payload) == [Array("hello".utf8)])
        #expect(entry.customData.map(\.endpoint) == ["custom-data"])
        #expect(entry.credentials.leastSecurity.version == 2)
        #expect(entry.credentials.hasProofOfPossession)
        #expect(entry.board == NewBatch.Board(line: 2, name: "Bench 1", address: "serial:/dev/ttyUSB0"))
    }

    @Test("the same board in JSON Lines gives the same entry")
    func jsonLines() throws {
        let line =
            #"{"qr":\#(Self.qr),"name":"Bench 1","port":"/dev/ttyUSB0","ssid":"Plant","passphrase":"plant-secret","#
            + #""tags":["room:kitchen","floor:2"],"metadata":{"serial":7},"group":"Line A","node_name":"Lamp 1","pop":null}"#
        let file = try BatchFile(Array("\n\(line)\n".utf8))
        #expect(file.form == .jsonLines)
        let entry = try #require(file.entries.first)
        #expect(entry.line == 2)
        #expect(entry.name == "Bench 1")
        #expect(entry.label == "PROV_a1b2c3")
        #expect(entry.address == .serial("/dev/ttyUSB0"))
        #expect(entry.proof == "abcd1234")
        #expect(!entry.hasGivenProof)
        #expect(entry.network?.passphrase == Secret("plant-secret"))
        #expect(entry.notes == MappingNotes(tags: ["room:kitchen", "floor:2"], metadata: #"{"serial":7}"#))
        #expect(entry.group == "Line A")
        #expect(entry.nodeName == "Lamp 1")
        let texts = #"{"qr":"NP:PROV_x|p|s","tags":{"room":"hall"},"metadata":"{\"a\":1}"}"#
        let second = try #require(try entries(texts).first)
        #expect(second.address == .softAP(name: "PROV_x"))
        #expect(second.notes == MappingNotes(tags: ["room:hall"], metadata: #"{"a":1}"#))
    }

    @Test("separators, line ends, blanks around names, blank lines and surplus separators do not change the boards")
    func forms() throws {
        for separator in [",", ";", "\t"] {
            for end in ["\n", "\r\n", "\r"] {
                for head in ["", "\u{FEFF}", "\(end)", "sep=\(separator)\(end)"]
                where separator == ";" || head != "sep=,\(end)" {
                    let lines = [
                        " Name \(separator)TRANSPORT\(separator) Pop", "PROV_1\(separator)ble\(separator)abcd1234", "",
                        "\(separator)\(separator)",
                        "\"PROV\(separator == "\t" ? " " : separator)2\"\(separator)ble\(separator)\"a\"\"b\(end)c\"",
                        "PROV_3\(separator) ble \(separator)\(separator)\(separator)",
                    ]
                    let boards = try entries(head + lines.joined(separator: end))
                    #expect(boards.map(\.name) == ["PROV_1", "PROV\(separator)2".replacing("\t", with: " "), "PROV_3"])
                    #expect(boards.map(\.proof) == ["abcd1234", ProofOfPossession("a\"b\(end)c"), nil])
                    let first = head.isEmpty || head == "\u{FEFF}" ? 2 : 3
                    #expect(boards.map(\.line) == [first, first + 3, first + 5])
                }
            }
        }
    }

    /// What Excel writes with a German locale as "CSV UTF-8": a mark, semicolons, CRLF.
    private static let excel: [UInt8] =
        [0xEF, 0xBB, 0xBF]
        + Array("name;transport;pop;tags\r\nPROV_1;ble;abcd1234;\"raum:k\u{FC}che;etage:2\"\r\n;;;\r\n".utf8)
    /// What Excel writes as "Unicode Text": UTF-16 with a mark, tabs, CRLF.
    private static let excelUnicode: [UInt8] =
        [0xFF, 0xFE]
        + "name\ttransport\tpop\ttags\r\nPROV_1\tble\tabcd1234\t\"raum:k\u{FC}che;etage:2\"\r\n".utf16.flatMap {
            [UInt8($0 & 0xFF), UInt8($0 >> 8)]
        }
    /// What LibreOffice writes with UTF-8, commas, and "quote all text cells".
    private static let libreOffice = Array(
        "\"name\",\"transport\",\"pop\",\"tags\"\n\"PROV_1\",\"ble\",\"abcd1234\",\"raum:k\u{FC}che;etage:2\"\n".utf8)
    private static let utf16BigEndian: [UInt8] =
        [0xFE, 0xFF]
        + "sep=;\r\nname;transport;pop;tags\r\nPROV_1;ble;abcd1234;\"raum:k\u{FC}che;etage:2\"".utf16.flatMap {
            [UInt8($0 >> 8), UInt8($0 & 0xFF)]
        }
    private static let lines = Array(
        #"{"name":"PROV_1","transport":"ble","pop":"abcd1234","tags":["raum:küche","etage:2"]}"#.utf8)

    static let samples = [excel, excelUnicode, libreOffice, utf16BigEndian, lines]

    @Test("files of Excel, LibreOffice and programs have the same board", arguments: samples)
    func spreadsheets(_ bytes: [UInt8]) throws {
        let file = try BatchFile(bytes)
        #expect(file.entries.map(\.name) == ["PROV_1"])
        #expect(file.entries.map(\.proof) == ["abcd1234"])
        #expect(file.entries.map(\.notes.tags) == [["raum:küche", "etage:2"]])
        #expect(file.entries.map(\.address) == [.bluetooth("PROV_1")])
    }

    @Test(
        "a line with another separator than the first line is named",
        arguments: [
            ("name\ttransport\tpop\nPROV_1,ble,abcd\n", "separated by commas, but line 1 is separated by tabs"),
            ("name,transport,pop\nPROV_1\tble\tabcd\n", "separated by tabs, but line 1 is separated by commas"),
            ("name;transport;pop\nPROV_1,ble,abcd\n", "separated by commas, but line 1 is separated by semicolons"),
        ])
    func otherSeparator(text: String, words: String) throws {
        let error = #expect(throws: BatchFileError.self) { try BatchFile(Array(text.utf8)) }
        #expect(error?.description.hasPrefix("Line 2: The line is \(words).") == true, "\(error?.description ?? "")")
    }

    @Test("a known word for a transport is quoted, and any other value is not")
    func unknownTransport() {
        for (value, shown) in [
            ("bluetooth", "The transport \"bluetooth\" is unknown"), ("abcd", "The transport is unknown"),
        ] {
            let text = "name,transport\nPROV_1,\(value)\n"
            let error = #expect(throws: BatchFileError.self) { try BatchFile(Array(text.utf8)) }
            #expect(error?.description.contains(shown) == true, "\(error?.description ?? "")")
        }
    }

    @Test("every truncation of a file is read or refused, with one fault or more", arguments: samples)
    func truncations(_ bytes: [UInt8]) {
        for count in 0..<bytes.count {
            do throws(BatchFileError) {
                let file = try BatchFile(Array(bytes.prefix(count)))
                #expect(file.entries.count == 1)
            } catch {
                #expect(error.count >= 1 && !error.faults.isEmpty)
            }
        }
    }

    @Test("the digest is that of the bytes")
    func digest() throws {
        let file = try BatchFile(Array("name,transport\nPROV_1,ble\n".utf8))
        // printf 'name,transport\nPROV_1,ble\n' | sha256sum
        #expect(file.sha256 == "1261d8f897f8a9fd60b10cf8c8e71b89841f69b8eb3761e4e3a762c8631d339d")
    }

    @Test("an entry prints no secret and no data for the application")
    func secrecy() throws {
        let text =
            "name,transport,pop,ssid,passphrase,custom_data\nPROV_1,ble,planted-pop,Net,planted-word,planted-data\n"
        let entry = try #require(try entries(text).first)
        var dumped = ""
        dump(entry, to: &dumped)
        for shown in ["\(entry)", String(reflecting: entry), dumped] {
            #expect(!shown.contains("planted"))
            #expect(!shown.contains("112, 108, 97"))
        }
    }

    // MARK: Defaults

    @Test("a line's own values have precedence over the defaults")
    func defaults() throws {
        var defaults = BatchDefaults()
        defaults.transport = "ble"
        defaults.proof = "default1"
        defaults.network = try WiFiNetwork("Plant", passphrase: "plant-secret")
        defaults.notes = MappingNotes(tags: ["batch:7", "room:store"], metadata: #"{"site":"A","rev":1}"#)
        defaults.group = "All"
        let text = """
            name,qr,pop,ssid,passphrase,tags,metadata,group
            PROV_1,,,,,,,
            PROV_2,,own,Plant,,room:hall,"{""rev"":2}",Own
            ,NP:PROV_3|labelled|s,,,other-secret,,,
            PROV_4,,,Open,,,,

            """
        let boards = try entries(text, defaults)
        #expect(
            boards.map(\.address) == [
                .bluetooth("PROV_1"), .bluetooth("PROV_2"), .softAP(name: "PROV_3"), .bluetooth("PROV_4"),
            ])
        #expect(boards.map(\.proof) == ["default1", "own", "labelled", "default1"])
        #expect(boards.map(\.hasGivenProof) == [true, true, false, true])
        #expect(boards.map { $0.network?.ssid } == [SSID("Plant"), SSID("Plant"), SSID("Plant"), SSID("Open")])
        #expect(
            boards.map { $0.network?.passphrase }
                == ["plant-secret", "plant-secret", "other-secret", ""].map { Secret($0) })
        #expect(
            boards.map(\.notes.tags) == [
                ["batch:7", "room:store"], ["batch:7", "room:hall"], defaults.notes.tags, defaults.notes.tags,
            ])
        #expect(
            boards.map(\.notes.metadata) == [
                defaults.notes.metadata, #"{"site":"A","rev":2}"#, defaults.notes.metadata, defaults.notes.metadata,
            ])
        #expect(boards.map(\.group) == ["All", "Own", "All", "All"])
    }

    @Test("boards that are plugged in one after another share a port")
    func sharedPort() throws {
        var defaults = BatchDefaults()
        defaults.port = "/dev/ttyUSB0"
        let labels = try entries(
            #"{"qr":{"name":"A","pop":"p"}}"# + "\n" + #"{"qr":{"name":"B","pop":"p"}}"# + "\n", defaults)
        #expect(labels.map(\.address) == [.serial("/dev/ttyUSB0"), .serial("/dev/ttyUSB0")])
        #expect(labels.map(\.name) == ["A", "B"])
        let named = try entries("port,name\n/dev/ttyUSB0,one\n/dev/ttyUSB0,two\n/dev/ttyUSB1,one\n")
        #expect(named.map(\.name) == ["one", "two", "one"])
    }

    // MARK: Addresses

    static let addresses: [(line: String, address: BoardAddress)] = [
        ("port=/dev/ttyUSB0", .serial("/dev/ttyUSB0")),
        ("port=/dev/serial/by-id/usb-x", .serial("/dev/serial/by-id/usb-x")),
        ("address=7c:df:a1:00:00:42", .bluetooth("7C:DF:A1:00:00:42")),
        ("address=192.168.4.1", .softAP("192.168.4.1")),
        ("address=192.168.4.1:8080", .softAP("192.168.4.1:8080")),
        ("address=[fe80::1%wlan0]:80", .softAP("[fe80::1%wlan0]:80")),
        ("address=lamp.local&transport=on-network", BoardAddress(scheme: "on-network", location: "lamp.local")),
        ("address=PROV_a1b2c3&transport=ble", .bluetooth("PROV_a1b2c3")),
        ("address=ble:PROV_a1b2c3?adapter=hci1", .bluetooth("PROV_a1b2c3", adapter: "hci1")),
        ("address=serial:/dev/ttyACM0", .serial("/dev/ttyACM0")),
        ("name=PROV_1&transport=BLE", .bluetooth("PROV_1")),
        ("name=PROV_1&transport=softap", .softAP(name: "PROV_1")),
        ("name=lamp&transport=on-network", BoardAddress(scheme: "on-network", parameters: ["device-name": "lamp"])),
        ("qr=NP:PROV_1|p|b", .bluetooth("PROV_1")),
        ("qr=NP:PROV_1|p|s&name=Kitchen", .softAP(name: "PROV_1")),
        ("qr=NP:PROV_1|p|b&address=10.0.0.7:80", .softAP("10.0.0.7:80")),
        ("qr=NP:PROV_1|p|b&transport=serial&port=/dev/ttyUSB3", .serial("/dev/ttyUSB3")),
        (
            "qr=https://rainmaker.espressif.com/qrcode.html?data=%7B%22name%22%3A%22P%22%2C%22transport%22%3A%22ble%22%7D",
            .bluetooth("P")
        ),
    ]

    @Test("a line names its board in each way", arguments: addresses)
    func address(_ line: String, _ address: BoardAddress) throws {
        // A QR code's URL has an equals sign of its own.
        let pairs = line.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        let text =
            pairs.map { $0[0] }.joined(separator: ",") + "\n" + pairs.map { "\"\($0[1])\"" }.joined(separator: ",")
        #expect(try entries(text).map(\.address) == [address])
    }
}
