// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKit
import TestSupport
import Testing

/// Tables that other programs write and read: Python's `csv`, and LibreOffice.
@Suite("Files of boards, Python's csv and LibreOffice")
struct ForeignTableTests {
    private static let names = ["name", "transport", "pop", "group", "custom_data"]

    /// 200 rows with separators, quotation marks, line breaks and letters of several scripts.
    private static func rows() -> [[String]] {
        var generator = SeededGenerator(seed: 73)
        let letters = Array("ab1 ,;\t\"'=+-@|{}é€日𝄞\n").map(String.init)
        func text(_ letters: [String]) -> String {
            (0..<Int.random(in: 1...12, using: &generator)).map { _ in letters.randomElement(using: &generator)! }
                .joined()
        }
        let onOneLine = letters.filter { $0 != "\n" && $0 != "\t" }
        return (0..<200).map { number in
            let group = text(onOneLine).split(separator: " ").joined(separator: " ")
            return [
                "PROV_\(number)", ["ble", "softap"][number % 2], "p\(text(letters + ["\r\n"]))", group,
                "d\(text(letters))",
            ]
        }
    }

    @Test("every value of 200 random rows survives", arguments: ["excel", "semicolon", "excel-tab", "unix"])
    func dialects(_ dialect: String) async throws {
        let script = """
            import base64, csv, io, json, sys
            class semicolon(csv.excel): delimiter = ";"
            csv.register_dialect("semicolon", semicolon)
            out = io.StringIO(newline="")
            csv.writer(out, dialect=sys.argv[1]).writerows(json.load(sys.stdin))
            print(base64.b64encode(out.getvalue().encode()).decode())
            """
        let rows = Self.rows()
        let input = JSONValue.array(([Self.names] + rows).map { .array($0.map(JSONValue.string)) })
        let finished = try await run(
            "python3", ["-c", script, dialect], environment: ["PYTHONIOENCODING": "utf-8"],
            input: .text(String(decoding: input.serialized(), as: UTF8.self)))
        #expect(finished.status == .exited(0), "\(finished.standardError)")
        let bytes = try #require(Base64.decoded(finished.standardOutput.utf8.dropLast()))
        let entries = try BatchFile(bytes).entries
        let read = entries.map { entry in
            [
                entry.name, entry.address.scheme, entry.proof?.secret.revealString() ?? "", entry.group ?? "",
                entry.customData.map { String(decoding: $0.payload, as: UTF8.self) }.joined(),
            ]
        }
        #expect(read == rows)
    }

    @Test("LibreOffice's own CSV has the same boards")
    func libreOffice() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(
                "name,transport,pop,tags\nPROV_1,ble,abcd1234,\"a:b,c:d\"\nPROV_2,ble,\"x\"\"y\",\n", to: "in.csv")
            for arguments in [
                ["--convert-to", "ods", "in.csv"],
                ["--convert-to", "csv:Text - txt - csv (StarCalc):59,34,76", "in.ods"],
            ] {
                let finished = try await run(
                    "libreoffice", ["--headless"] + arguments, environment: ["HOME": folder.path],
                    directory: folder.path)
                #expect(finished.status == .exited(0), "\(finished.standardError)")
            }
            let entries = try BatchFile(folder.readBytes("in.csv")).entries
            #expect(entries.map(\.proof) == ["abcd1234", "x\"y"])
            #expect(entries.map(\.notes.tags) == [["a:b", "c:d"], []])
        }
    }
}
