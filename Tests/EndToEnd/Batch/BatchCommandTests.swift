// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

@Suite("rainctl batch", .serialized)
struct BatchCommandTests {
    @Test("the boards of a file get into the account, each once; a board that is missing fails and is tried again")
    func wholeFile() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(12, folder)
            try shop.write(["PROV_absent,ble,abcd1234"])
            // A search lasts 30 s. After two of them too little time is left for a third one.
            let first = try await shop.run(
                ["run", folder.file("boards.csv"), "--at-once", "5", "--board-timeout", "75s"] + shop.common)
            #expect(first.status == 20, "\(first.error)")
            #expect(first.document["error"]?["code"]?.string == "batch_partial")
            let advice = "rainctl batch retry 1 --ssid \(SimulatedBoard.ssid) --passphrase-file \(folder.file("wifi"))"
            #expect(first.document["error"]?["message"]?.string?.contains(advice) == true, "\(first.document)")
            #expect(first.document["done"]?.integer == 12 && first.document["failed"]?.integer == 1)
            let board = first.document["boards"]?.array?.first
            #expect(board?["line"]?.integer == 14 && board?["name"]?.string == "PROV_absent")
            #expect(board?["reason"]?.string == "not_found" && board?["code"]?.string == "unavailable")
            let nodes = try shop.confirmed()
            #expect(nodes.count == 12 && Set(nodes).count == 12)

            let second = try await shop.run(
                ["retry", "--lines", "14", "--board-timeout", "5s", "--at-once", "5"] + shop.common)
            #expect(second.status == 20 && second.document["boards"]?.array?.first?["attempts"]?.integer == 2)
            #expect(try shop.confirmed() == nodes)
            let unknown = try await shop.run(["retry", "--lines", "14,77"] + shop.common)
            #expect(unknown.status == 64 && unknown.document["error"]?["reason"]?.string == "unknown_line")
            let begun = try await shop.run(["run", folder.file("boards.csv")] + shop.common)
            #expect(begun.status == 64 && begun.document["error"]?["reason"]?.string == "unfinished_batch")
            #expect(
                begun.error.contains("batch retry 1") || "\(begun.document)".contains("batch retry 1"),
                "\(begun.document)")

            let report = try await shop.run(["report", "--json"])
            #expect(report.status == 0)
            let reported = report.document["boards"]?.array?.compactMap { $0["node_id"]?.string } ?? []
            #expect(Set(reported) == Set(nodes))
            let page = try await shop.run(["report", "--html", folder.file("report.html"), "--json"])
            #expect(page.status == 0)
            #expect(try folder.read("report.html").contains("PROV_absent"))
            let status = try await shop.run(["status", "--json"])
            #expect(status.document["done"]?.integer == 12 && status.document["failed"]?.integer == 1)
            // No report replaces what the batch needs, and no address with a password becomes a file.
            let own = try await shop.run(["report", "--csv", folder.file("boards.csv"), "--json"])
            #expect(own.status == 64)
            #expect(try folder.read("boards.csv").hasPrefix("name,"))
            for place in ["postgresq://u:planted-word@127.0.0.1/x", "host=127.0.0.1 password=planted-word"] {
                let refused = try await shop.run(["status", "--ledger", place, "--json"])
                #expect(refused.status == 64 && !"\(refused.document) \(refused.error)".contains("planted-word"))
            }
            // The record has no secrets.
            for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
                guard let text = try? readFileBytes(folder.file("state/rainkit/\(name)")) else { continue }
                for secret in [SimulatedBoard.passphrase, SimulatedBoard.proofOfPossession, SimulatedCloud.password] {
                    #expect(!text.contains(Array(secret.utf8)), "\(name) has a secret")
                }
            }
            try await shop.close()
        }
    }

    @Test("Ctrl-C lets each board finish its step, and resume does only what is missing")
    func interrupted() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(10, folder)
            try shop.write()
            let child = try await shop.start(
                ["run", folder.file("boards.csv"), "--at-once", "3"] + shop.common)
            _ = try await shop.cloud.journal.entry(where: ["event": "mapping", "state": "confirmed"])
            child.signal(SIGINT)
            #expect(try await child.wait(within: .waitLimit) == .exited(130))
            try await child.drained()
            #expect(child.standardError.contains("Stopping"), "\(child.standardError)")

            let again = try await shop.run(["run", folder.file("boards.csv")] + shop.common)
            #expect(again.status == 64 && again.document["error"]?["reason"]?.string == "unfinished_batch")
            try shop.write(["PROV_other,ble,abcd1234"])
            let changed = try await shop.run(["resume"] + shop.common)
            #expect(changed.status == 65 && changed.document["error"]?["reason"]?.string == "changed_batch_file")
            try folder.write("name,transport\nPROV_other,ble\n", to: "other.csv")
            let other = try await shop.run(["retry", "--secrets", folder.file("other.csv")] + shop.common)
            #expect(
                other.document["error"]?["message"]?.string?.hasPrefix(
                    "The lines of \(folder.file("other.csv")) differ")
                    == true, "\(other.document)")
            let retried = try await shop.run(["retry"] + shop.common)
            #expect(retried.status == 65 && !retried.error.contains("again"), "\(retried.error)")
            try shop.write()

            // A place without a ledger is not made one by a command that begins nothing.
            for command in ["status", "report", "resume", "retry"] {
                let work = command == "resume" || command == "retry" ? shop.common : ["--json"]
                let mistyped = try await shop.run([command, "--ledger", folder.file("lodger.sqlite")] + work)
                #expect(mistyped.status == 69 && mistyped.document["error"]?["reason"]?.string == "no_ledger")
                #expect(mistyped.error.contains("There is no ledger at") || mistyped.document["error"] != nil)
                #expect(access(folder.file("lodger.sqlite"), F_OK) != 0)
            }
            let unmapped = try await shop.run(["resume", "--no-mapping"] + shop.common)
            #expect(unmapped.status == 64 && unmapped.document["error"]?["reason"]?.string == "other_account")
            let absent = try await shop.run(["resume", "99"] + shop.common)
            #expect(absent.status == 1 && absent.document["error"]?["reason"]?.string == "no_such_batch")

            let rest = try await shop.run(["resume"] + shop.common)
            #expect(rest.status == 0 && rest.document["done"]?.integer == 10, "\(rest.error) \(rest.document)")
            let nodes = try shop.confirmed()
            #expect(nodes.count == 10 && Set(nodes).count == 10)

            // Somebody adds a board to the record by hand.
            let added = try await run(
                "sqlite3",
                [
                    folder.file("state/rainkit/ledger.sqlite"),
                    "insert into boards (batch, line, name, address) values (1, 99, 'stray', 'ble:stray')",
                ])
            #expect(added.status == .exited(0), "\(added.standardError)")
            let stray = try await shop.run(["resume"] + shop.common)
            #expect(stray.status == 20 && stray.document["boards"]?.array?.first?["reason"]?.string == "not_in_file")

            // From standard input there is no file to read again.
            let piped = try await shop.maker.rainctl(
                ["batch", "run", "-", "--again", "--timeout", "1ms"] + shop.common, environment: shop.radio.environment,
                input: .text(try folder.read("boards.csv")))
            #expect(piped.status == 16, "\(piped.standardError)")
            let lost = try await shop.run(["resume"] + shop.common)
            #expect(lost.status == 64 && lost.document["error"]?["reason"]?.string == "missing_file")
            try await shop.close()
        }
    }

    @Test("a run that is killed again and again loses no board, and maps none twice")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(isSoak ? 200 : 12, folder)
            try shop.write()
            var random = SeededGenerator(seed: 11)
            var kills = 0
            var arguments =
                ["run", folder.file("boards.csv"), "--at-once", "4", "--station-timeout", "1s"] + shop.common
            var status: ChildExit?
            var words = ""
            while status == nil {
                let child = try await shop.start(arguments)
                arguments = ["resume", "--at-once", "4", "--station-timeout", "1s"] + shop.common
                // Each life ends after some more events of the radio's journal, wherever the boards are then.
                let wanted = try shop.radio.journal.entries().count + Int.random(in: 1...60, using: &random)
                while status == nil, try kills == 30 || shop.radio.journal.entries().count < wanted {
                    status = try? await child.wait(within: kills == 30 ? .seconds(300) : .milliseconds(5))
                }
                words = child.standardError
                guard status == nil else { break }
                child.kill()
                kills += 1
                _ = try await child.wait()
            }
            #expect(status == .exited(0) && kills > 3, "\(kills) kills: \(words)")
            try await shop.check(shop.run(["report", "--json"]).document)
            try await shop.close()
        }
    }

    @Test("boards are provisioned as they appear, until Ctrl-C, which ends a batch that is done with 0")
    func discovered() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(4, folder)
            let defaults = ["--transport", "ble", "--pop-file", folder.file("pop"), "--group", "Bench"] + shop.common
            let child = try await shop.start(["run", "--discover"] + defaults)
            let ledger = folder.file("state/rainkit/ledger.sqlite")
            var ended: ChildExit?
            var done = ""
            while ended == nil, done != "4\n" {
                ended = try? await child.wait(within: .milliseconds(50))
                guard try shop.confirmed().count == 4 else { continue }
                done = try await run(
                    "sqlite3", ["-readonly", ledger, "select count(*) from boards where state = 'done'"]
                )
                .standardOutput
            }
            child.signal(SIGINT)
            #expect(try await child.wait(within: .waitLimit) == .exited(0), "\(child.standardError)")
            #expect(Set(try shop.confirmed()).count == 4, "\(child.standardError)")
            let resumed = try await shop.run(["resume"] + defaults)
            #expect(resumed.status == 0 && resumed.document["done"]?.integer == 4, "\(resumed.error)")
            let labels = try await shop.run(["report", "--labels", folder.file("labels.html"), "--json"])
            #expect(labels.status == 64 && labels.document["error"]?["reason"]?.string == "no_proofs")
            try await shop.close()
        }
    }

    @Test("a batch that puts its boards into no account is resumed without the option")
    func withoutAccount() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(2, folder)
            try shop.write()
            let begun = try await shop.run(
                ["run", folder.file("boards.csv"), "--no-mapping", "--timeout", "1ms"] + shop.common)
            #expect(begun.status == 16, "\(begun.error)")
            let resumed = try await shop.run(["resume"] + shop.common)
            #expect(resumed.status == 0 && resumed.document["done"]?.integer == 2, "\(resumed.error)")
            #expect(try shop.confirmed().isEmpty)
            let nameless = try await shop.run(["resume", "--station", " "] + shop.common)
            #expect(nameless.status == 64)
            try await shop.close()
        }
    }
}
