// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import Testing

@testable import rainctl

@Suite("Manual pages")
struct ManualPageTests {
    private static let pages: [String: String] = {
        guard let date = ManualDate(argument: "2026-11-05"),
            let pages = try? ManualPages.pages(Array(RootWithOptions._dumpHelp().utf8), date: date)
        else { return [:] }
        return Dictionary(uniqueKeysWithValues: pages.map { ($0.file, $0.text) })
    }()

    private func page(_ name: String) throws -> String { try #require(Self.pages["\(name).1"]) }

    @Test("each command has a page, with the sections that man(7) describes", arguments: ShownCommand.all)
    func sections(of command: ShownCommand) throws {
        let page = try page((["rainctl"] + command.words).joined(separator: "-"))
        let sections = page.split(separator: "\n").filter { $0.hasPrefix(".Sh ") }.map { $0.dropFirst(4) }
        var expected = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
        if !command.isGroup || command.words.isEmpty { expected += ["OPTIONS", "ENVIRONMENT", "FILES"] }
        if command.isGroup { expected.append("COMMANDS") }
        #expect(Set(expected).isSubset(of: sections.map(String.init)), "\(sections)")
        #expect(page.contains(".Dd November 5, 2026\n") && page.contains(".Os RainKit \(RainKitVersion.current)\n"))
        #expect(!page.contains("BSD"))
        let name = command.testDescription.replacing("-", with: "\\-")
        #expect(page.contains(command.words.isEmpty ? "\n.Nm rainctl\n" : "\n.Nm \"\(name)\"\n"))
    }

    /// man(1) writes the name twice into the header, with the title between. If they do not fit, it cuts the name.
    @Test("the name of each page fits into a header of 80 columns, and no word is hyphenated")
    func terminal() {
        for (file, page) in Self.pages {
            #expect(page.contains("\n.ds doc-volume-operating-system\n.ds doc-volume-ds-1 RainKit\n"))
            #expect(page.contains("\n.nr doc-hyphen-flags 0\n"))
            #expect(2 * "\(file.dropLast(2))(1)".count + " RainKit ".count < 80, "\(file)")
        }
    }

    @Test("no page is of a hidden command, and help has one")
    func names() {
        let commands = Set(ShownCommand.all.map { (["rainctl"] + $0.words).joined(separator: "-") + ".1" })
        #expect(Set(Self.pages.keys) == commands.union(["rainctl-help.1"]))
    }

    @Test("options have their values, defaults and possible values; a required one has no brackets")
    func options() throws {
        let provision = try page("rainctl-provision")
        #expect(provision.contains("\n.Op Fl \\-transport Ar transport\n"))
        #expect(
            provision.contains(
                """
                .It Fl \\-transport Ar transport
                Reach the board over a cable (serial), Bluetooth (ble), its own access point
                (softap) or your network (on-network).
                Possible values: auto, serial, ble, softap, on-network.
                Default: auto.

                """))
        #expect(provision.contains(".It Fl \\-sec\\-ver , Fl \\-sec_ver Ar version\n"))
        #expect(provision.contains(".It Fl \\-device\\-host Ar host[:port]\n"))
        #expect(provision.contains("\n.Op Fl \\-sec\\-ver Ar version\n"), "without its second spelling")
        let send = try page("rainctl-node-command-send")
        #expect(
            send.contains(".It Fl \\-wait , Fl \\-no\\-wait\n") && !send.contains(".It Fl \\-no\\-wait\n"),
            "a flag and its opposite have one description")
        let form = try #require(provision.firstRange(of: ".It Fl \\-log\\-format Ar form\n")).upperBound
        #expect(
            provision[form...].hasPrefix("Write the log in this format: text or json (default: text).\n.It"),
            "values that the description has are not repeated")
        #expect(try page("rainctl-node-share-add").contains("\n.Fl \\-with Ar user\n"))
        #expect(try page("rainctl-profile-add").contains("\n.Ar name\n"))
        #expect(try page("rainctl-account-curl").contains("\n.Fl \\- Op Ar argument No ...\n"))
        let list = try page("rainctl-node-list")
        let own = try #require(list.firstRange(of: ".It Fl \\-timeout")).lowerBound
        let everywhere = try #require(list.firstRange(of: ".Ss Everywhere\n")).lowerBound
        #expect(own < everywhere && list[everywhere...].contains(".It Fl h , Fl \\-help\n"))
    }

    @Test("rainctl(1) has all exit codes and variables; a command has its own, and names rainctl(1)")
    func lists() throws {
        let rainctl = try page("rainctl")
        for status in RainKitError.Code.allCases {
            #expect(rainctl.contains(".It \"\(status.rawValue) \(status.name)\"\n"))
        }
        for variable in EnvironmentVariable.all {
            for name in variable.names { #expect(rainctl.contains(name), "\(name)") }
        }
        #expect(rainctl.contains(".rainkit.json"))
        let provision = try page("rainctl-provision")
        #expect(provision.contains(".It \"11 wifi_auth_failed\"\n") && provision.contains(".It RAINKIT_POP\n"))
        #expect(provision.contains(".Xr rainctl 1\nlists all exit codes.\n"))
        let list = try page("rainctl-node-list")
        #expect(
            !list.contains("wifi_auth_failed") && !list.contains("RAINKIT_POP") && list.contains(".It \"77 auth\"\n"))
    }

    @Test("examples are copied as they are, and are not in the description")
    func examples() throws {
        let rename = try page("rainctl-node-rename")
        #expect(rename.contains(".Bd -literal -offset indent\nrainctl node rename Light \\(aqKitchen lamp\\(aq\n.Ed\n"))
        let claim = try page("rainctl-device-claim")
        #expect(claim.contains("\nrainctl device claim \\-\\-host \\-\\-port /dev/ttyUSB0\n.Ed\n"))
        #expect(!claim.contains("Example:"))
    }

    @Test("text that roff would interpret is escaped")
    func escapes() {
        var page = MdocText()
        page.prose("'a .b c\\d `e` --f-g h-i “j”. Next.")
        page.macro("It", "Ar", "|", "a b", "\"", "")
        page.literal([".x '~^"])
        #expect(
            page.text == """
                \\&'a .b c\\ed e \\%\\-\\-f\\-g h-i \\[u201C]j\\[u201D].
                Next.
                .It \\&Ar \\&| "a b" \\(dq ""
                .Bd -literal -offset indent
                \\&.x \\(aq\\(ti\\(ha
                .Ed

                """)
    }

    @Test(
        "what is not the description of a program of ours is an error",
        arguments: ["", "{}", #"{"command": {"commandName": "x"}}"#])
    func wrong(description: String) throws {
        let date = try #require(ManualDate(argument: "2026-11-25"))
        let failure = #expect(throws: CommandFailure.self) {
            try ManualPages.pages(Array(description.utf8), date: date)
        }
        #expect(failure?.status == .badData)
    }

    @Test(
        "a date", arguments: [("2026-01-31", "January 31, 2026"), ("2026-13-01", nil), ("today", nil), ("2026-1", nil)])
    func date(argument: String, text: String?) { #expect(ManualDate(argument: argument)?.text == text) }
}
