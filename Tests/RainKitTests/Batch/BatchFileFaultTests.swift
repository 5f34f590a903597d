// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit
import TestSupport
import Testing

/// The faults of files of boards: each names its line and column, and tells what to do.
@Suite("Faults of files of boards")
struct BatchFileFaultTests {
    private func refusal(_ bytes: [UInt8], _ defaults: BatchDefaults = BatchDefaults()) -> BatchFileError? {
        do throws(BatchFileError) {
            _ = try BatchFile(bytes, defaults: defaults)
            return nil
        } catch {
            return error
        }
    }

    private func refusal(_ text: String) -> BatchFileError? { refusal(Array(text.utf8)) }

    /// A file with one fault: its line, its column, its kind, and a part of its message.
    struct Case: Sendable, CustomTestStringConvertible {
        var text: String
        var line: Int?
        var column: String?
        var reason = BatchFileError.Reason.unusable
        var message: String
        var testDescription: String { String(text.prefix(60)) }
    }

    static let cases = [
        Case(text: "", message: "lists no boards"),
        Case(text: " \n\n", message: "lists no boards"),
        Case(text: "name,transport\n", message: "lists no boards"),
        Case(text: "PROV_1,secret12\n", line: 1, reason: .unknownColumn, message: "first line must name the columns"),
        Case(
            text: "\nname,pop,transprot\nA,p,ble\n", line: 2, column: "transprot", reason: .unknownColumn,
            message: "Write transport."),
        Case(
            text: "name,transport,ssid,password\nA,ble,Net,12345678\n", line: 1, column: "password",
            reason: .unknownColumn,
            message: "Write passphrase."),
        Case(
            text: "name,transport,colour\nA,ble,red\n", line: 1, column: "colour", reason: .unknownColumn,
            message: "Remove the column"),
        Case(text: "name,transport,Name\nA,ble,B\n", line: 1, column: "name", message: "occurs twice"),
        Case(text: "name,transport,\nA,ble,x\n", line: 2, message: "more values"),
        Case(text: "name,,transport\nA,x,ble\nB,y,ble\n", line: 2, message: "Column 2 has a value, but no name"),
        Case(text: "pop,group\np,g\n", line: 2, message: "does not identify a board"),
        Case(text: "name\nA\n", line: 2, column: "transport", message: "Give one of serial, ble"),
        Case(text: "name,transport\nA,usb\n", line: 2, column: "transport", message: "unknown"),
        Case(text: "name,transport\nA,serial\n", line: 2, column: "port", message: "does not report its name"),
        Case(text: "port\nCOM3\n", line: 2, column: "port", message: "/dev/ttyUSB0"),
        Case(text: "port,transport\n/dev/ttyUSB0,ble\n", line: 2, column: "transport", message: "transport serial"),
        Case(
            text: "port,address\n/dev/ttyUSB0,10.0.0.1\n", line: 2, column: "address",
            message: "cannot be used together"),
        Case(text: "address\nhttp://10.0.0.1/\n", line: 2, column: "address", message: "HOST:PORT"),
        Case(text: "address\n7CDFA1000042\n", line: 2, column: "address", message: "with colons"),
        Case(
            text: "address,transport\n7C:DF:A1:00:00:42,softap\n", line: 2, column: "transport",
            message: "Bluetooth address"),
        Case(text: "address,transport\n10.0.0.1:80,ble\n", line: 2, column: "address", message: "AA:BB:CC"),
        Case(text: "address,transport\n10.0.0.1,serial\n", line: 2, column: "address", message: "Give port"),
        Case(text: "address\nble:\n", line: 2, column: "address", message: "no location"),
        Case(
            text: "address,transport\nble:A,softap\n", line: 2, column: "transport",
            message: "differs from the transport column"),
        Case(text: "address\nserial:COM3\n", line: 2, column: "address", message: "/dev/ttyUSB0"),
        Case(text: "qr\nWIFI:S:x;;\n", line: 2, column: "qr", message: "Wi-Fi network"),
        Case(
            text: "qr,transport\nNP:P|p|b,on-network\n", line: 2, column: "name",
            message: "differs from the name on its label"),
        Case(
            text: "qr\n\"{\"\"ver\"\":\"\"v1\"\",\"\"name\"\":\"\"P\"\",\"\"network\"\":\"\"thread\"\"}\"\n", line: 2,
            column: "qr", message: "does not use Wi-Fi"),
        Case(
            text: "qr\n\"{\"\"ver\"\":\"\"v1\"\",\"\"name\"\":\"\"P\"\"}\"\n", line: 2, column: "transport",
            message: "does not show how"),
        Case(
            text: "name,transport,pop\nA,ble,1.23457E+11\n", line: 2, column: "pop", reason: .spreadsheetDamage,
            message: "lost digits"),
        Case(
            text: "name;transport;pop\nA;ble;1,23457E+11\n", line: 2, column: "pop", reason: .spreadsheetDamage,
            message: "lost digits"),
        Case(
            text: "name,transport,pop\nA,ble,#NAME?\n", line: 2, column: "pop", reason: .spreadsheetDamage,
            message: "shows an error"),
        Case(
            text: "address\n1.12233E+11\n", line: 2, column: "address", reason: .spreadsheetDamage,
            message: "lost digits"),
        Case(
            text: "address\n112233445566\n", line: 2, column: "address", reason: .spreadsheetDamage,
            message: "AA:BB:CC:DD:EE:FF"),
        Case(text: "name,transport,passphrase\nA,ble,12345678\n", line: 2, column: "ssid", message: "no network"),
        Case(
            text: "name,transport,ssid,passphrase\nA,ble,Net,1234567\n", line: 2, column: "passphrase",
            message: "8 to 63 bytes"),
        Case(
            text: "name,transport,ssid\nA,ble,123456789012345678901234567890123\n", line: 2, column: "ssid",
            message: "32 bytes"),
        Case(text: "name,transport,tags\nA,ble,kitchen\n", line: 2, column: "tags", message: "key:value"),
        Case(text: "name,transport,metadata\nA,ble,{x}\n", line: 2, column: "metadata", message: "not JSON"),
        Case(text: "name,transport,metadata\nA,ble,7\n", line: 2, column: "metadata", message: "one JSON object"),
        Case(
            text: "name,transport,node_name\nA,ble,\(String(repeating: "x", count: 65))\n", line: 2,
            column: "node_name", message: "64 bytes"),
        Case(text: "name,transport\n\"A\u{1B}[2J\",ble\n", line: 2, column: "name", message: "control characters"),
        Case(
            text: "name,transport\n\"A\",ble\n\"B,ble\n", line: 3, column: "name",
            message: "has no closing quotation mark"),
        Case(text: "name,transport\n\"A\"x,ble\n", line: 2, column: "name", message: "closing quotation mark"),
        Case(text: "name,transport\n \"A\",ble\n", line: 2, column: "name", message: "Remove the space"),
        Case(
            text: "name,transport\nA,ble\nB,ble\nA,ble\n", line: 4, column: "name", reason: .duplicateBoard,
            message: "line 2"),
        Case(text: "qr\nNP:A|p|b\nNP:A|q|s\n", line: 3, column: "qr", reason: .duplicateBoard, message: "line 2"),
        Case(
            text: "address\nlamp.local\nLAMP.local:80\n", line: 3, column: "address", reason: .duplicateBoard,
            message: "line 2"),
        Case(
            text: "address\n7C:DF:A1:00:00:42\n7c:df:a1:00:00:42\n", line: 3, column: "address",
            reason: .duplicateBoard, message: "line 2"),
        Case(
            text: "port,name\n/dev/ttyUSB0,A\n/dev/ttyUSB0,A\n", line: 3, column: "port", reason: .duplicateBoard,
            message: "same port and name"),
        Case(
            text: "port,name\n/dev/ttyUSB0,A\n/dev/ttyUSB0,\n", line: 3, column: "port", reason: .duplicateBoard,
            message: "no name"),
        Case(
            text: "port\n/dev/ttyUSB0\n/dev/ttyUSB0\n", line: 3, column: "port", reason: .duplicateBoard,
            message: "line 2"),
        Case(text: "[{\"name\":\"A\"}]\n", line: 1, message: "a list"),
        Case(text: "{\"name\":\"A\",\"transport\":\"ble\"\n", line: 1, message: "not a JSON object"),
        Case(text: "{\"name\":\"A\",\"transport\":\"ble\"}\n7\n", line: 2, message: "a number"),
        Case(
            text: "{\"name\":\"A\",\"transport\":\"ble\",\"pop\":1234}\n", line: 1, column: "pop",
            message: "in quotation marks"),
        Case(
            text: "{\"name\":\"A\",\"transport\":\"ble\",\"tags\":[1]}\n", line: 1, column: "tags",
            message: "Each tag of the list"),
        Case(
            text: "{\"name\":\"A\",\"transport\":\"ble\",\"tags\":{\"a\":1}}\n", line: 1, column: "tags",
            message: "Each tag of the object"),
        Case(
            text: "{\"name\":\"A\",\"transport\":\"ble\",\"metadata\":[1]}\n", line: 1, column: "metadata",
            message: "a list"),
        Case(
            text: "{\"name\":\"A\",\"transport\":\"ble\",\"passwrd\":\"x\"}\n", line: 1, column: "passwrd",
            reason: .unknownColumn, message: "Remove the column"),
        Case(text: "{\"name\":\"A\",\"transport\":\"ble\",\"qr\":[]}\n", line: 1, column: "qr", message: "a list"),
    ]

    @Test("a fault names its line and column, and what to do", arguments: cases)
    func fault(_ example: Case) throws {
        let error = try #require(refusal(example.text))
        #expect(error.count == 1, "\(error)")
        let fault = error.faults[0]
        #expect(fault.line == example.line, "\(fault)")
        #expect(fault.column == example.column, "\(fault)")
        #expect(fault.reason == example.reason, "\(fault)")
        #expect(fault.message.contains(example.message), "\(fault)")
        #expect(fault.message.hasSuffix("."), "\(fault)")
    }

    @Test("the errors have a code and a reason for programs")
    func reasons() throws {
        let reasons = [
            "name,transport\nA,usb\n": "bad_batch_file", "name,transport\nA,ble\nA,ble\n": "duplicate_board",
            "name,transport,colour\nA,ble,red\n": "unknown_column", "address\n112233445566\n": "spreadsheet_damage",
            "name,transport,pop\nA,ble,\(String(repeating: "x", count: 65537))\n": "batch_file_too_large",
            "name,transport\nA,usb\nB,ble\nB,ble\n": "bad_batch_file",
        ]
        for (text, reason) in reasons {
            let error = RainKitError(try #require(refusal(text)))
            #expect(error.code == .badData)
            #expect(error.reason == reason)
        }
    }

    @Test("all faults of a file are counted, and the first 20 are listed")
    func allFaults() throws {
        let lines = (1...30).map { $0.isMultiple(of: 3) ? "A\($0),ble" : "A\($0),usb" }
        let error = try #require(refusal("name,transport\n" + lines.joined(separator: "\n")))
        #expect(error.count == 20)
        let more = try #require(refusal("name,transport\n" + (1...50).map { "A\($0),usb" }.joined(separator: "\n")))
        #expect(more.count == 50)
        #expect(more.faults.count == BatchFileError.maximumFaults)
        #expect(more.faults.map(\.line) == (2...21).map { $0 })
        #expect(
            more.description.hasPrefix("The file of boards has 50 faults. The first 20 are: Line 2, column transport:"))
        // A line may have several.
        let several = try #require(refusal("name,transport,tags,ssid,passphrase\nA,usb,x,Net,1\n"))
        #expect(several.faults.map(\.column) == ["passphrase", "tags", "transport"])
    }

    @Test("a line is counted as an editor counts it, and named as a spreadsheet's row as well if that differs")
    func rows() throws {
        let error = try #require(refusal("sep=;\nname;transport;pop\nA;ble;\"x\ny\"\nB;usb;\n"))
        #expect(error.faults[0].line == 5)
        #expect(error.faults[0].row == 3)
        #expect(error.description.hasPrefix("Line 5 (row 3 of the spreadsheet), column transport: "))
    }

    @Test("no message has a value of the file")
    func secrecy() throws {
        let planted = [
            "planted1,planted2\n", "name,transport,pop\nA,planted3,planted4\n", "qr\nplanted5\n",
            "qr\n\"{planted6}\"\n",
            "name,transport,ssid,passphrase\nA,ble,Net,\(String(repeating: "planted7", count: 9))\n",
            "name,transport,tags,metadata\nA,ble,planted8,planted9\n", "address\nplanted/x:planted\n",
            "port\nplanted\n",
            "{\"name\":\"A\",\"transport\":\"ble\",\"pop\":\"planted\",\"passphrase\":planted}\n",
            "{\"qr\":{\"name\":\"A\",\"pop\":\"planted\",\"security\":\"planted\"}}\n",
            "name,transport,pop\nA,ble,\"planted\n", "name,transport,pop\nA,ble,\"planted\"planted\n",
        ]
        for text in planted {
            let error = try #require(refusal(text))
            #expect(!error.description.contains("planted"), "\(error)")
            #expect(!RainKitError(error).message.contains("planted"))
        }
    }

    // MARK: Encodings

    @Test("bytes that are not text are refused, with advice")
    func encodings() throws {
        let latin = Array("name,transport,group\nA,ble,K".utf8) + [0xFC] + Array("che\n".utf8)
        let first = try #require(refusal(latin))
        #expect(first.faults.map(\.column) == ["group"])
        #expect(first.description.contains("Save the file as UTF-8"))
        let odd: [UInt8] = [0xFF, 0xFE] + Array("n\0a\0m".utf8)
        #expect(try #require(refusal(odd)).description.contains("its end may be missing"))
        let lone: [UInt8] = [0xFE, 0xFF, 0xD8, 0x00, 0x00, 0x41]
        #expect(try #require(refusal(lone)).description.contains("damaged"))
        let unmarked = "name,transport\nA,ble\n".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(try #require(refusal(unmarked)).description.contains("or it is UTF-16 text without a byte order mark"))
        let torn = Array("name,transport\nA,ble\n".utf8) + [0, 0, 0]
        #expect(try #require(refusal(torn)).description.contains("Line 3 of the file of boards contains NUL bytes"))
        #expect(try #require(refusal([0x50, 0x4B, 0x03, 0x04, 0x14, 0x00])).description.contains("as CSV"))
        #expect(try #require(refusal([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A])).description.contains("a picture"))
    }

    // MARK: Bounds

    @Test("a file may have 64 KiB in a value, 32 columns and 100,000 lines, and no more")
    func bounds() throws {
        let most = String(repeating: "x", count: BatchFile.maximumFieldBytes)
        let head = "name,transport,custom_data\nA,ble,"
        #expect(try BatchFile(Array("\(head)\(most)\n".utf8)).entries[0].customData[0].payload.count == 65536)
        #expect(try BatchFile(Array("\(head)\"\(most)\"\n".utf8)).entries[0].customData[0].payload.count == 65536)
        let tooLarge = [
            "\(head)\(most)x\n", "\(head)\"\(most)x\"\n", "\(head)\"\(most)\"\"\"\n",
            "{\"name\":\"A\",\"transport\":\"ble\",\"custom_data\":\"\(most)x\"}",
            (0..<33).map { "c\($0)" }.joined(separator: ",") + "\n",
            "name,transport\nA,ble\(String(repeating: ",x", count: 33))\n",
            "{\"name\":\"A\"" + (0..<32).map { ",\"c\($0)\":1" }.joined() + "}\n",
            "{\"name\":\"A\",\"metadata\":\(String(repeating: "[", count: 20))1\(String(repeating: "]", count: 20))}\n",
        ]
        for text in tooLarge {
            let error = try #require(refusal(text))
            #expect(error.faults.contains { $0.reason == .tooLarge }, "\(error)")
        }
        #expect(
            try BatchFile(Array("name,transport\(String(repeating: ",", count: 300))\nA,ble\n".utf8)).entries.count == 1
        )
    }

    @Test("the line after the hundred thousandth is an error, and reading ends")
    func lines() throws {
        var text = Array("address\n".utf8)
        for number in 0...BatchFile.maximumLines { text += Array("b\(number).local\n".utf8) }
        let error = try #require(refusal(text))
        // The lines before it have no fault.
        #expect(error.faults.map(\.line) == [BatchFile.maximumLines + 2])
        #expect(error.reason == .tooLarge)
    }

    @Test("a file over 64 MiB is refused before it is read")
    func bytes() throws {
        let error = try #require(refusal([UInt8](repeating: 0x0A, count: BatchFile.maximumBytes + 1)))
        #expect(error.reason == .tooLarge)
        #expect(error.faults[0].line == nil)
    }

    @Test(
        "a member that an object has twice is a fault of its line",
        arguments: [
            (#"{"name":"a","transport":"ble","pop":"x","pop":"y"}"#, "pop"),
            (#"{"name":"a","transport":"ble","n\u0061me":"b"}"#, "name"),
            (#"{"name":"a","transport":"ble","metadata":{"shelf":[{"b":1}],"shelf":2}}"#, "shelf"),
            (#"{"name":"a \" ,{","transport":"ble","tags":{"k":"1","k":"1"}}"#, "k"),
        ])
    func repeatedMember(line: String, member: String) throws {
        let good =
            #"{"name":"first","transport":"ble","tags":{"name":"x","pop":"y"},"metadata":{"a":{"b":1},"c":{"b":1}}}"#
        let error = #expect(throws: BatchFileError.self) { try BatchFile(Array("\(good)\n\(line)".utf8)) }
        #expect(
            error?.faults.map(\.line) == [2] && error?.faults.map(\.column) == [member],
            "\(error.map(String.init(describing:)) ?? "")")
    }
}
