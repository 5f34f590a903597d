// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl qr")
struct QRCommandTests {
    private func with(_ body: (TemporaryFolder, Maker) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in try await body(folder, try Maker(folder)) }
    }

    @Test(
        "a code that is drawn is read again, in each form",
        arguments: [
            ([], #"{"ver":"v1","name":"PROV_a1b2c3","pop":"\#(SimulatedBoard.proofOfPossession)","transport":"ble"}"#),
            (
                ["--username", "wifiprov", "--transport", "softap"],
                #"{"ver":"v1","name":"PROV_a1b2c3","username":"wifiprov","pop":"\#(SimulatedBoard.proofOfPossession)","transport":"softap"}"#
            ),
            (["--compact"], "NP:PROV_a1b2c3|\(SimulatedBoard.proofOfPossession)|b"),
            (
                ["--url"],
                #"https://rainmaker.espressif.com/qrcode.html?data={"ver":"v1","name":"PROV_a1b2c3","pop":"\#(SimulatedBoard.proofOfPossession)","transport":"ble"}"#
            ),
        ])
    func forms(options: [String], payload: String) async throws {
        try await with { folder, maker in
            let drawn = try await maker.rainctl(
                [
                    "qr", "show", "--device-name", "PROV_a1b2c3", "--pop-file", folder.file("pop"), "--png",
                    folder.file("code.png"), "--json",
                ] + options)
            #expect(drawn.status == 0 && drawn.document?["name"] == "PROV_a1b2c3", "\(drawn.standardError)")
            #expect(!drawn.standardOutput.contains(SimulatedBoard.proofOfPossession))
            let mode = try await run("stat", ["-c", "%a", folder.file("code.png")])
            #expect(mode.standardOutput == "600\n")
            let read = try await maker.rainctl("qr", "read", folder.file("code.png"))
            #expect(read.standardOutput == payload + "\n", "\(read.standardError)")
            let document = try await maker.rainctl("qr", "read", folder.file("code.png"), "--json")
            #expect(document.document?["codes"]?.array?.first?["name"] == "PROV_a1b2c3")
            // What was read is drawn as it is.
            let again = try await maker.rainctl("qr", "show", payload, "--ascii", "--quiet")
            #expect(again.status == 0 && again.standardOutput.hasPrefix("####"), "\(again.standardError)")
        }
    }

    @Test("a picture of the code leads to the board, as a file and through a pipe")
    func provisionByPicture() async throws {
        try await with { folder, maker in
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--security", "1"], in: folder)
            let drawn = try await maker.rainctl(
                "qr", "show", "--device-name", "PROV_a1b2c3", "--pop-file", folder.file("pop"), "--transport", "softap",
                "--png", folder.file("code.png"))
            #expect(drawn.status == 0, "\(drawn.standardError)")
            let scan = try await maker.rainctl(
                ["device", "scan", "--json", "--qrcode", folder.file("code.png")] + Maker.way(to: board))
            #expect(scan.status == 0, "\(scan.standardOutput)\(scan.standardError)")
            let label = try await maker.rainctl(
                "qr", "show", "--device-name", "PROV_a1b2c3", "--svg", "-", "--label", "Kitchen", "--label", "2026-11")
            #expect(
                label.standardOutput.contains(">Kitchen</text>") && label.standardOutput.contains(">2026-11</text>"))
        }
    }

    @Test("what cannot be drawn or read is said")
    func refused() async throws {
        try await with { folder, maker in
            try folder.write("no picture", to: "text")
            for (arguments, status, reason) in [
                (["qr", "show", "hello"], 65, "bad_qr_code"), (["qr", "read", folder.file("text")], 65, "bad_picture"),
                (["qr", "read", folder.file("nowhere")], 65, "bad_data"),
                (["qr", "show", "--device-name", "A|B", "--compact"], 64, "invalid_argument"),
                (["qr", "show"], 64, "usage"), (["qr", "show", "NP:a|b|s", "--device-name", "a"], 64, "usage"),
                (["qr", "show", "NP:a||s", "--png", folder.file("no/such/folder.png")], 73, "cannot_write"),
                (["device", "scan", "--qrcode", folder.file("text")], 65, "bad_qr_code"),
            ] {
                let outcome = try await maker.rainctl(arguments + ["--json"])
                #expect(
                    outcome.status == status && outcome.failure?["reason"]?.string == reason,
                    "\(arguments): \(outcome.standardOutput)")
            }
        }
    }

    @Test(
        "the text of a code is no picture: what takes it is named, and the text is not repeated",
        arguments: [
            #"{"ver":"v1","name":"PROV_a1b2c3","pop":"planted-pop","transport":"ble"}"#, "NP:PROV_a1b2c3|planted-pop|b",
            #"https://rainmaker.espressif.com/qrcode.html?data={"ver":"v1","name":"PROV_a1b2c3","pop":"planted-pop"}"#,
            #"{"ver":"v1","pop":"planted-pop""#,
        ])
    func text(code: String) async throws {
        try await with { folder, maker in
            let outcome = try await maker.rainctl("qr", "read", code, "--json")
            #expect(outcome.status == 65 && outcome.failure?["reason"] == "bad_picture", "\(outcome.standardOutput)")
            #expect(outcome.failure?["message"]?.string?.contains("rainctl qr show") == true)
            #expect(!(outcome.standardOutput + outcome.standardError).contains("planted-pop"))
        }
    }
}
