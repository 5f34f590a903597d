// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

@Suite("Words that may complete a command line")
struct CompletionOfferTests {
    private func offer(_ line: String) -> CompletionOffer {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        return CompletionOffer(after: Array(words.dropLast()), completing: words.last ?? "")
    }

    private func words(_ line: String) -> [String] { offer(line).words.map(\.text) }

    @Test("each shown command is offered in its group", arguments: ShownCommand.all)
    func commands(of command: ShownCommand) {
        guard let name = command.words.last else { return }
        #expect(words((command.words.dropLast() + [""]).joined(separator: " ")).contains(name))
        #expect(words((["help"] + command.words.dropLast() + [""]).joined(separator: " ")).contains(name))
    }

    @Test(
        "the next word depends on the words before it",
        arguments: [
            ("", "provision"), ("--json node ", "list"), ("--profile lab node ", "list"), ("node --json ", "list"),
            ("-qv node params ", "set"), ("provision --", "--ssid"), ("provision --transport ", "softap"),
            ("provision --transport=s", "--transport=softap"), ("--log-format ", "json"),
            ("node --log-format ", "json"),
            ("device send --text a --transport ", "ble"), ("completion ", "fish"), ("--json completion ", "zsh"),
            ("completion --json ", "bash"), ("-", "--json"), ("node list -", "-v"), ("", "help"),
            ("help ", "exit-codes"), ("account curl -", "--provider"),
        ])
    func offered(line: String, word: String) { #expect(words(line).contains(word), "\(words(line))") }

    @Test(
        "a word that cannot follow is not offered",
        arguments: [
            ("", "manual-pages"), ("account ", "callback"), ("wrong ", "list"), ("node wrong ", "list"),
            ("provision --json --", "--json"), ("provision -q --", "--quiet"), ("completion bash ", "fish"),
            ("provision -- --", "--ssid"), ("provision --ssid ", "--open"), ("provision --ssid Home --", "--ssid"),
            ("provision --", "--device_name"), ("help node ", "exit-codes"), ("node list ", "--json"),
            ("provision --json=", "--json="),
        ])
    func notOffered(line: String, word: String) { #expect(!words(line).contains(word)) }

    @Test("an option that may be repeated is offered again")
    func repeated() { #expect(words("account signup --tag a:b --").contains("--tag")) }

    @Test(
        "names of files are the shell's",
        arguments: [
            ("provision --qrcode ", true), ("provision --qrcode=", true), ("--ca-file ", true),
            ("provision --ssid ", false), ("node ", false),
        ])
    func files(line: String, hasFiles: Bool) { #expect(offer(line).hasFiles == hasFiles) }

    @Test("the answer has a word and its description in each line; the line of files has no word")
    func text() throws {
        let asked = try #require(CompletionOffer.requested(by: ["---words", "qr", ""]))
        #expect(
            asked.text.split(separator: "\n").map { $0.split(separator: "\t").count } == [2, 2]
                && asked == offer("qr "),
            "\(asked.text)")
        #expect(CompletionOffer.requested(by: ["---words", "--ca-file", ""])?.text == "\tfiles\n")
        #expect(CompletionOffer.requested(by: ["---words"])?.words.isEmpty == false)
        #expect(CompletionOffer.requested(by: ["node", "---words"]) == nil)
    }
}
