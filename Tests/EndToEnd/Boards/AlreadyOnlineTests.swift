// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A board may join its network although the run that gave it to the board has ended. The next run finds it online.
@Suite("rainctl provision: a board that joins without the run")
struct AlreadyOnlineTests {
    @Test("Ctrl-C while it joins does not stop it, and the message names the command that shows it")
    func interrupted() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-joining"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--join-delay", "60"] + cloud.boardOptions(node: "node-joining"), in: folder)
            let person = try await maker.atTerminal(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"),
                ])
            try await person.hears("Waiting for the board to join")
            await person.types("\u{3}")
            try await person.hears("The board may still join Home and appear in your account.")
            try await person.hears("rainctl node list")
            #expect(try await person.wait() == .exited(130), "\(person.transcript)")
        }
    }

    @Test("if it is online in the account, its log is no reason to advise a reset: the next run succeeds")
    func online() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-online"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--console", folder.file("tty"), "--console-dialect", "log-only", "--boot-log", "provisioned"]
                    + ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
                    + cloud.boardOptions(node: "node-online"), in: folder)
            let wifi = ["--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--json"]
            let first = try await maker.rainctl(
                ["provision", "--pop-file", folder.file("pop"), "--device-host", board.http ?? ""] + wifi)
            #expect(first.status == 0, "\(first.standardOutput)\(first.standardError)")
            let next = try await maker.rainctl(["provision", "--port", folder.file("tty")] + wifi)
            #expect(next.status == 0, "\(next.standardOutput)\(next.standardError)")
            #expect(next.document?["node_id"] == "node-online" && next.document?["mapping"] == "confirmed")
            #expect(next.document?["resumed"] == true && next.document?["ip"]?.string == nil)
            #expect(
                next.standardError.contains("node-online is in your account and online already"),
                "\(next.standardError)")
        }
    }
}
