// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// `--qrcode` in all its forms leads to the board and into its session: here to one behind its own access point, whose address
/// nobody has to know.
@Suite("rainctl --qrcode", .serialized)
struct ForeignQRCodeTests {
    private static let name = "PROV_a1b2c3"
    private static let pop = SimulatedBoard.proofOfPossession

    struct Form: Sendable, CustomTestStringConvertible {
        var code: String
        var board = ["--security", "1"]
        var testDescription: String { code }
    }

    static let forms = [
        Form(code: #"{"ver":"v1","name":"\#(name)","pop":"\#(pop)","transport":"softap"}"#),
        Form(
            code:
                #"{"ver":"v1","name":"\#(name)","username":"wifiprov","pop":"\#(pop)","transport":"softap","security":2}"#,
            board: ["--security", "2"]),
        Form(
            code: #"{"ver":"v1","name":"\#(name)","username":"somebody","pop":"\#(pop)","transport":"softap"}"#,
            board: ["--security", "2", "--username", "somebody"]),
        Form(
            code: #"{"ver":"v1","name":"\#(name)","transport":"softap","network":"wifi"}"#,
            board: ["--security", "1", "--no-pop"]),
        Form(code: #"{"ver":"v1","name":"\#(name)","transport":"softap","security":0}"#, board: ["--security", "0"]),
        Form(code: "NP:\(name)|\(pop)|s"), Form(code: "NP:\(name)|\(pop)|s", board: ["--security", "2"]),
        Form(code: "NP:\(name)||s", board: ["--security", "1", "--no-pop"]),
        Form(
            code:
                #"https://rainmaker.espressif.com/qrcode.html?data={"ver":"v1","name":"\#(name)","pop":"\#(pop)","transport":"softap"}"#
        ),
        Form(code: "https://espressif.github.io/esp-jumpstart/qrcode.html?data=NP:\(name)|\(pop)|s"),
    ]

    private func scan(
        _ form: Form, in folder: TemporaryFolder, _ namespace: NetworkNamespace, way: String = "text",
        _ more: [String] = []
    ) async throws -> Maker.Outcome {
        let board = try await SimulatedBoard.start(
            ["--http", "192.168.4.1:80", "--name", Self.name] + form.board, in: folder, namespace: namespace)
        let maker = try Maker(folder, namespace: namespace)
        var argument = form.code
        if way == "file" {
            try folder.write(form.code + "\n", to: "code")
            argument = folder.file("code")
        } else if way == "input" {
            argument = "-"
        }
        let outcome = try await maker.rainctl(
            ["device", "scan", "--qrcode", argument, "--json"] + more,
            input: way == "input" ? .text(form.code) : .empty)
        try await board.process.terminate()
        return outcome
    }

    @Test("each form says where the board is and what opens it", arguments: forms)
    func read(form: Form) async throws {
        try await withTemporaryFolder { folder in
            let namespace = try await NetworkNamespace(addresses: ["192.168.4.1"])
            for way in ["text", "file", "input"] {
                let outcome = try await scan(form, in: folder, namespace, way: way)
                #expect(outcome.status == 0, "\(way): \(outcome.standardOutput)\(outcome.standardError)")
                #expect(outcome.document?["networks"]?.array?.first?["ssid"]?.string == SimulatedBoard.ssid)
            }
        }
    }

    @Test("a code with another scheme than the board's does not lower the security, unless the user allows it")
    func security() async throws {
        try await withTemporaryFolder { folder in
            let namespace = try await NetworkNamespace(addresses: ["192.168.4.1"])
            let form = Form(
                code: #"{"ver":"v1","name":"\#(Self.name)","pop":"\#(Self.pop)","transport":"softap","security":2}"#)
            let refused = try await scan(form, in: folder, namespace)
            #expect(refused.status == 15, "\(refused.standardOutput)")
            let insisted = try await scan(form, in: folder, namespace, ["--sec-ver", "1"])
            #expect(insisted.status == 0, "\(insisted.standardOutput)\(insisted.standardError)")
        }
    }

    @Test(
        "a code that is not for a Wi-Fi board is refused before anything is sent",
        arguments: [
            ("NP:x", 65, "bad_qr_code"), ("{}", 65, "bad_qr_code"), (#"{"name":"X","security":9}"#, 65, "bad_qr_code"),
            (#"{"name":"X","transport":"softap","network":"thread"}"#, 1, "unsupported"),
        ] as [(String, Int, String)])
    func refused(code: String, status: Int, reason: String) async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Maker(folder).rainctl("device", "info", "--qrcode", code, "--json")
            #expect(outcome.status == status, "\(outcome.standardOutput)")
            #expect(outcome.failure?["reason"]?.string == reason)
        }
    }
}
