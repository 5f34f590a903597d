// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// What `doctor` says of what other commands end at, and of what it shares with other programs.
@Suite("rainctl doctor reports")
struct DoctorReportTests {
    @Test("whole sentences and commands, however long they are")
    func long() {
        let (sentence, command) = (String(repeating: "s", count: 900), String(repeating: "c", count: 900))
        let text = DoctorResult(findings: [.warn("ports", "busy", sentence, fix: .command(command))]).text
        #expect(text.contains(sentence) && text.contains(command))
        #expect(DoctorResult(findings: [.ok("ports", "a\u{1B}[2Jb")]).text.contains("a [2Jb"))
    }

    @Test("what a shell takes for one word")
    func words() {
        #expect("/home/a-b/x.json".asShellWord == "/home/a-b/x.json")
        #expect("/home/a b".asShellWord == "'/home/a b'" && "a'b".asShellWord == #"'a'\''b'"# && "".asShellWord == "''")
    }

    @Test(
        "of a project's file that others may write, the command is printed and not run",
        arguments: [0o666, 0o660, 0o622] as [mode_t])
    func ignoredSettings(mode: mode_t) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file(".rainkit.json")
            try folder.write("{}", to: ".rainkit.json")
            chmod(path, mode)
            let finding = DoctorChecks.finding(aboutIgnored: path)
            #expect(finding.fix == .command("chmod go-w \(path)"))
            #expect(finding.message.contains("Check its content before you use it"))
        }
    }
}
