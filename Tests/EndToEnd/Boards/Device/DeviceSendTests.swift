// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Data for endpoints of the board's own application: alone, and in the session that provisions.
@Suite("rainctl device send")
struct DeviceSendTests {
    private static func board(_ folder: TemporaryFolder, _ more: [String] = []) async throws -> SimulatedBoard {
        try await SimulatedBoard.start(
            ["--http", "127.0.0.1:0", "--security", "2", "--mapping", "user", "--join-delay", "0.2"]
                + ["--custom-endpoint", "custom-data"] + more, in: folder)
    }

    private func send(_ maker: Maker, _ board: SimulatedBoard, _ more: [String]) async throws -> Maker.Outcome {
        try await maker.rainctl(
            ["device", "send"] + more
                + [
                    "--transport", "softap", "--device-host", board.http ?? "", "--pop-file", maker.folder.file("pop"),
                ])
    }

    @Test(
        "a text, bytes, JSON and a file reach the endpoint to the byte",
        arguments: [
            (["--text", "hello"], 5), (["--hex", "00 0a:FF"], 3), (["--json-data", #"{"a": 1}"#], 8), (["--file"], 6),
        ])
    func reaches(data: [String], bytes: Int) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder)
            try folder.write("five!\n", to: "data")
            let file = data == ["--file"] ? [folder.file("data")] : []
            let outcome = try await send(maker, board, ["custom-data"] + data + file + ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["answer"] == "SUCCESS" && outcome.document?["answer_hex"] == "5355434345535300")
            _ = try await board.journal.entry(where: ["change": "custom_data", "bytes": .integer(Int64(bytes))])
        }
    }

    @Test("what makes no sense is refused before the board is spoken to")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder)
            for (data, words) in [
                (["--hex", "abc"], "pairs of hex digits"),
                (["--json-data", "{"], "--json-data is not JSON: the text ends"),
                (["--text", "a", "--hex", "00"], "only one of"),
            ] {
                let outcome = try await send(maker, board, ["custom-data", "--json"] + data)
                outcome.expectFailure(64, "usage", says: words)
            }
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
            let absent = try await send(maker, board, ["no-such", "--text", "a", "--json"])
            absent.expectFailure(1, "other", says: "has no endpoint no-such. Check the name")
        }
    }

    @Test(
        "no data at all is refused before the board is spoken to: it would end the session",
        arguments: [
            (["--text", ""], 64), (["--hex", ""], 64), (["--json-data", ""], 64), (["--file", "EMPTY"], 65),
            (["--file", "-"], 65), ([], 65),
        ])
    func empty(data: [String], status: Int) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder)
            try folder.write("", to: "EMPTY")
            let words = data.map { $0 == "EMPTY" ? folder.file($0) : $0 }
            let outcome = try await send(maker, board, ["custom-data", "--json"] + words)
            outcome.expectFailure(
                status, status == 64 ? "usage" : "bad_data",
                says: data.first == "--json-data"
                    ? "--json-data is not JSON: the text is empty" : "data for the board is empty")
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
        }
    }

    @Test("provision --custom-data with nothing in it is refused before the board is put into the account")
    func emptyCustomData() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder)
            try folder.write("", to: "EMPTY")
            let outcome = try await maker.rainctl(
                "provision", "--no-mapping", "--transport", "softap", "--device-host", try #require(board.http),
                "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                folder.file("wifi"), "--custom-data", folder.file("EMPTY"), "--json")
            outcome.expectFailure(65, "bad_data", says: "data for the board is empty")
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
        }
    }

    @Test("more than any transport carries is bad data, for which there is no other transport")
    func tooLong() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder)
            try folder.write(String(repeating: "x", count: 5000), to: "data")
            let outcome = try await send(maker, board, ["custom-data", "--file", folder.file("data"), "--json"])
            outcome.expectFailure(65, "bad_data", says: "Send less data at once")
            #expect(outcome.failure?["reason"] == "too_long")
            #expect(!outcome.standardOutput.contains("--transport"), "\(outcome.standardOutput)")
        }
    }

    @Test("provision --custom-data: in the same session, before the board gets its network")
    func provision() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder)
            try folder.write("identity=ada\npassword=planted-eap\n", to: "eap")
            let outcome = try await maker.rainctl(
                "provision", "--no-mapping", "--transport", "softap", "--device-host", try #require(board.http),
                "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                folder.file("wifi"), "--custom-data", folder.file("eap"), "--json", "--events", "ndjson", "-v")
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["custom_data"]?.array?.first?["answer"] == "SUCCESS")
            let changes = try board.journal.entries(where: ["event": "state"]).compactMap { $0["change"]?.string }
            let wanted = ["session_established", "custom_data", "credentials_received", "joined"]
            #expect(changes.filter { wanted.contains($0) } == wanted, "\(changes)")
            #expect(!outcome.standardError.contains("planted-eap"))
        }
    }

    @Test("a board without that endpoint gets no network: it would leave without what it needs")
    func absent() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user"], in: folder)
            try folder.write("x", to: "data")
            let outcome = try await maker.rainctl(
                "provision", "--no-mapping", "--transport", "softap", "--device-host", try #require(board.http),
                "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                folder.file("wifi"), "--custom-data", folder.file("data"), "--custom-endpoint", "eap", "--json")
            #expect(outcome.status != 0 && outcome.failure?["step"] == "custom_data", "\(outcome.standardOutput)")
            outcome.expectFailure(1, "other", says: "has no endpoint eap")
            outcome.expectFailure(1, "other", says: "The Wi-Fi settings were not sent")
            #expect(try board.journal.entries(where: ["change": "credentials_received"]).isEmpty)
        }
    }

    @Test("on a console, where the firmware says nothing of a name that it does not know, the endpoint is named, too")
    func console() async throws {
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(
                ["--console", folder.file("tty"), "--security", "1"], in: folder)
            let outcome = try await Maker(folder).rainctl(
                "device", "send", "no-such", "--text", "a", "--port", try #require(board.console), "--pop-file",
                folder.file("pop"), "--json")
            outcome.expectFailure(1, "other", says: "endpoint no-such")
        }
    }

    @Test("an endpoint without data is refused, not ignored")
    func endpointAlone() async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Maker(folder).rainctl(
                "provision", "--custom-endpoint", "eap", "--transport", "softap", "--device-host", "127.0.0.1:9",
                "--ssid", "Home", "--passphrase-file", folder.file("wifi"), "--pop-file", folder.file("pop"),
                "--no-mapping", "--json")
            outcome.expectFailure(64, "usage", says: "--custom-data")
        }
    }
}
