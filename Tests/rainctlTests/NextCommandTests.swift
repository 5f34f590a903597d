// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
@testable import RainKit
import Testing

@testable import rainctl

/// The commands that are printed for the user to type next.
@Suite("Printed next commands")
struct NextCommandTests {
    @Test(
        "have the options of this command that decide about deployment, account and trust",
        arguments: [
            (["node", "list"], "node list", "rainctl node list"),
            (["node", "list", "--profile", "lab"], "node list", "rainctl node list --profile lab"),
            (
                ["whoami", "--ca-file=a b.pem", "--profile", "lab"], "login USER --code-stdin",
                "rainctl login USER --profile lab --ca-file 'a b.pem' --code-stdin"
            ),
            (["whoami", "--account", "my lamp"], "node show 'x -y'", "rainctl node show 'x -y' --account 'my lamp'"),
            (["whoami", "--account", "a@b"], "login a@b", "rainctl login a@b"),
            (["whoami", "--account", "a"], "login USER --account b", "rainctl login USER --account b"),
            (["login", "--account", "a"], "account use b", "rainctl account use b"),
            (["node", "list", "--profile", "$(x)"], "node list", "rainctl node list --profile '$(x)'"),
            (
                ["account", "curl", "--profile", "lab"], "account curl -- -i /v1/x",
                "rainctl account curl --profile lab -- -i /v1/x"
            ),
            (["account", "curl", "--", "--profile", "lab"], "account list", "rainctl account list"),
            (["node", "list", "--profile", "lab"], "profile list", "rainctl profile list"),
            (["node", "list", "--profile", "lab"], "profile show", "rainctl profile show --profile lab"),
        ])
    func options(arguments: [String], command: String, line: String) {
        #expect(GivenOptions(arguments).line(command) == line)
    }

    @Test(
        "a command that continues a batch has the options of the batch, and no secrets",
        arguments: [
            (
                "batch run boards.csv --ssid=Home --passphrase-file wi-fi.txt --pop-file pop --board-timeout 5s --json",
                "batch retry 1",
                "rainctl batch retry 1 --pop-file pop --ssid Home --passphrase-file wi-fi.txt --board-timeout 5s"
            ),
            (
                "batch run - --ssid Home --passphrase planted-word --profile lab", "batch resume 4 --secrets -",
                "rainctl batch resume 4 --profile lab --ssid Home --secrets -"
            ),
            (
                "batch run --discover --transport serial --ssid Home --open --ledger l.sqlite", "batch resume 4",
                "rainctl batch resume 4 --ledger l.sqlite --transport serial --ssid Home --open --discover"
            ),
            ("batch run --discover --no-wifi", "batch retry 4", "rainctl batch retry 4 --no-wifi"),
            (
                "batch retry 4 --lines 3 --secrets o.csv --passphrase-stdin", "batch retry 4",
                "rainctl batch retry 4 --secrets o.csv --passphrase-stdin"
            ),
            (
                "station b.csv --ssid=-x --ledger postgresql://a@db/shop", "batch resume 4",
                "rainctl batch resume 4 --ledger postgresql://a@db/shop --ssid=-x"
            ),
            (
                "batch run b.csv --ledger postgresql://a:planted-word@db/shop", "batch resume 4",
                "rainctl batch resume 4 --ledger URL"
            ),
            ("batch status 99 --ledger l", "batch status --all", "rainctl batch status --ledger l --all"),
            ("batch status --ledger l --ssid Home", "node list", "rainctl node list"),
        ])
    func batch(given: String, command: String, line: String) {
        let arguments = given.split(separator: " ").map(String.init)
        #expect(GivenOptions(arguments).line(command) == line)
    }

    @Test("a value with blanks or signs of the shell is quoted")
    func quotedBatch() {
        let arguments = ["batch", "run", "b.csv", "--ssid", "My $(net)", "--tags", "room:a b"]
        #expect(
            GivenOptions(arguments).line("batch retry 1")
                == "rainctl batch retry 1 --ssid 'My $(net)' --tags 'room:a b'")
    }

    @Test(
        "a tick is for a terminal that shows it",
        arguments: [
            (["LANG": "en_US.UTF-8", "NO_COLOR": "1"], "✓ "), (["LANG": "C"], nil), ([:], nil),
            (["LANG": "en_US.UTF-8", "LC_ALL": "C"], nil), (["LANG": "C.utf8", "TERM": "dumb"], nil),
            (["LC_CTYPE": "de_DE.utf8"], "\u{1B}[32m✓\u{1B}[0m "),
        ] as [([String: String], String?)])
    func tick(environment: [String: String], mark: String?) { #expect(Tick.mark(environment) == mark) }

    @Test("only lines that confirm a change get the tick")
    func ticked() {
        #expect(Output.shown(ActionResult("Created group Home"), tick: "✓ ") == "✓ Created group Home\n")
        #expect(Output.shown(ActionResult("Created group Home")) == "Created group Home\n")
        #expect(Output.shown(ActionResult("Already there: a:b", isChange: false), tick: "✓ ") == "Already there: a:b\n")
        let boards = ParamsSetResult([
            .init(node: NodeID("n1"), isReported: true), .init(node: NodeID("n2"), failure: "no"),
        ])
        #expect(Output.shown(boards, tick: "✓ ") == "✓ Set the values of n1\nn2 failed: no\n")
    }

    @Test("a board is completed by its name, or by its id if a shell would read the name differently")
    func completion() {
        let nodes = [
            ("n1", "Lamp"), ("n2", "Kitchen lamp"), ("n3", "$(x)"), ("n4", "Fan"), ("n5", "fan"), ("-n6", nil),
            ("n7", "a $(x)"), ("n8", "ends "), ("n9", "a =b"), ("n10", "it's mine"),
        ]
        .map { RememberedNode(id: NodeID($0), name: $1) }
        #expect(CompletionKind.offered(nodes) == ["Lamp", "Kitchen lamp", "n3", "n4", "n5", "n7", "n8", "n9", "n10"])
    }

    @Test("boards with one name are listed with the way to rename them")
    func clash() {
        let entries = [("n1", "Light"), ("n2", "Fan"), ("n3", "light")].map {
            NodeListResult.Entry(nodeID: $0, name: $1, model: nil, role: nil, connected: true)
        }
        let note = NodeListResult(nodes: entries).clashNote
        #expect(note?.hasPrefix("2 boards are called Light (n1, n3).") == true, "\(note ?? "")")
        #expect(note?.hasSuffix("rainctl node rename n1 NAME") == true)
        #expect(NodeListResult(nodes: Array(entries.prefix(2))).clashNote == nil)
    }
}
