// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import rainctl

@Suite("A command that does not exist")
struct SuggestionTests {
    @Test(
        "is answered with what may have been meant",
        arguments: [
            ("provison", "rainctl provision"), ("lgoin", "rainctl login"), ("node lst", "rainctl node list"),
            ("node params gte X", "rainctl node params get"), ("Node list", "rainctl node"),
            ("prov", "rainctl provision"), ("log --json", "rainctl login, rainctl logout"),
            ("scan", "rainctl device scan"), ("signup", "rainctl account signup"),
            ("ota", "rainctl node ota"), ("node scan", "rainctl device scan"), ("node login", "rainctl login"),
            ("node delete n1", "rainctl node remove"), ("profile rm x", "rainctl profile remove"),
            ("group create x", "rainctl group add"), ("node help", "rainctl help node"),
            ("help provison", "rainctl help provision"),
            (
                "list",
                """
                rainctl account list, rainctl node list, rainctl group list, rainctl automation list, \
                rainctl profile list
                """
            ),
        ])
    func sentence(line: String, meant: String) {
        let sentence = CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init))
        #expect(sentence?.hasSuffix(" Did you mean: \(meant)?") == true, "\(sentence ?? "nothing")")
    }

    @Test("arguments of curl without -- in front of them are described so")
    func curl() {
        let sentence = { (line: String) in
            CommandSuggestion.terminatorSentence(for: line.split(separator: " ").map(String.init))
        }
        #expect(sentence("account curl /v1/user2")?.contains("go after --") == true)
        #expect(sentence("account curl -- /v1/user2") == nil && sentence("account fetch /v1/user2") == nil)
    }

    @Test(
        "a negative number is a wrong value, not a missing one",
        arguments: [
            (
                "node list --timeout -5", "Missing value for '--timeout <time>'",
                "'-5' is invalid for '--timeout <time>'"
            ),
            ("qr show --size -5", "Missing value for '--size <n>'", "'-5' is invalid for '--size <n>'"),
            ("node list --timeout --json", "Missing value for '--timeout <time>'", nil),
            ("node list --timeout -5", "Unknown option '-5'", nil),
        ])
    func negative(line: String, message: String, words: String?) {
        let sentence = CommandSuggestion.negativeSentence(for: line.split(separator: " ").map(String.init), message)
        #expect(sentence.map { $0.contains(words ?? "?") } ?? (words == nil), "\(sentence ?? "nothing")")
    }

    @Test("the accepted times are named for a time that the parser refuses")
    func time() {
        let message = "The value '0' is invalid for '--timeout <time>'"
        #expect(CommandSuggestion.formSentence(message)?.contains("more than 0 and at most a day") == true)
    }

    @Test(
        "the form of a value is named for a value that the parser refuses",
        arguments: [
            ("The value '70000' is invalid for '--callback-port <port>'", ": ports are 1 to 65535."),
            ("The value '2min' is invalid for '--board-timeout <time>'", "as in 6s, 500ms or 2m."),
            ("The value '7 days' is invalid for '--since <time>'", "as in 30s, 12h or 7d."),
            ("The value 'boards.csv' is invalid for '<batch>'", ": give the number of a batch, such as 12."),
            ("The value '-1' is invalid for '--count <n>'", ": give a whole number of at least 1."),
            (
                "The value 'x' is invalid for '--as <as>'. Please provide one of 'secondary', 'primary' or 'owner'.",
                "The value 'x' is invalid for '--as <as>': give one of secondary, primary, owner."
            ),
            (
                "The value 'x' is invalid for '--store <store>'. Please provide one of the following:\n  - auto\n  - secret-service",
                ": give one of auto, secret-service."
            ),
        ])
    func form(message: String, end: String) {
        let sentence = CommandSuggestion.formSentence(message)
        #expect(sentence?.hasSuffix(end) == true, "\(sentence ?? "nothing")")
    }

    @Test("a value of an unknown form, and another message, are not explained")
    func noForm() {
        #expect(CommandSuggestion.formSentence("The value 'x' is invalid for '--other <x>'") == nil)
        #expect(CommandSuggestion.formSentence("Missing expected argument '<value>'") == nil)
    }

    @Test("a negative value after an option or as an argument is named")
    func negativeValue() {
        let value = CommandSuggestion.negativeSentence(
            for: ["set", "Room/Thermostat", "-5"], "Missing expected argument '<value>'")
        #expect(value == "-5 was taken for an option: put -- before a negative value and after all options.")
        let place = CommandSuggestion.negativeSentence(
            for: ["automation", "add", "x", "--location", "-33.9,151.2"], "Missing value for '--location <place>'")
        #expect(place?.hasSuffix("Write --location=-33.9,151.2.") == true, "\(place ?? "nothing")")
        #expect(CommandSuggestion.negativeSentence(for: ["set", "Fan"], "Missing expected argument '<value>'") == nil)
    }

    @Test("a whole command in one argument is named")
    func oneArgument() {
        #expect(
            CommandSuggestion.sentence(for: ["node list"])
                == "rainctl got \"node list\" as one argument, although it is several words. Remove the quotation marks: rainctl node list"
        )
        #expect(
            CommandSuggestion.sentence(for: ["node", "params get X"])?.hasSuffix("rainctl node params get X") == true)
    }

    @Test("a password as an argument is not repeated")
    func password() {
        let sentence = CommandSuggestion.passwordSentence(
            for: ["login", "me@example.com", "planted"], "Unexpected argument 'planted'")
        #expect(sentence?.hasPrefix("A password cannot be an argument") == true)
        #expect(sentence?.contains("planted") == false)
        #expect(CommandSuggestion.passwordSentence(for: ["logout", "x"], "Unexpected argument 'x'") == nil)
    }

    @Test("values without a board before them are named")
    func missingBoard() {
        let sentence = CommandSuggestion.missingBoardSentence(
            for: ["node", "params", "set", "Light.Power=on"], "Give values as PATH=VALUE, or with --file.")
        #expect(sentence == "The board is missing. Write: rainctl node params set BOARD Light.Power=on")
        #expect(
            CommandSuggestion.missingBoardSentence(
                for: ["node", "params", "set", "Light"], "Give values as PATH=VALUE, or with --file.") == nil)
    }

    @Test("an option before the subcommand to which it belongs is named")
    func earlyOption() {
        #expect(
            CommandSuggestion.earlyOptionSentence(
                for: ["account", "--provider", "oidc", "status"], "Unknown option '--provider'")
                == "--provider goes after the command: rainctl account status … --provider")
        #expect(
            CommandSuggestion.earlyOptionSentence(
                for: ["account", "--bogus", "status"], "Unknown option '--bogus'") == nil)
    }

    @Test(
        "is not what an option with another dash than the hyphen is",
        arguments: [
            ("login ada –no-save", "\"–no-save\" begins with a dash that is not a hyphen (U+2013). Type --no-save."),
            ("—json whoami", "\"—json\" begins with a dash that is not a hyphen (U+2014). Type --json."),
            ("whoami −q", "\"−q\" begins with a dash that is not a hyphen (U+2212). Type -q."),
            ("x –pop=abc", "\"–pop\" begins with a dash that is not a hyphen (U+2013). Type --pop."),
        ])
    func dash(line: String, sentence: String) {
        #expect(CommandSuggestion.dashSentence(for: line.split(separator: " ").map(String.init)) == sentence)
    }

    @Test(
        "a hyphen, a dash between words, and everything after -- are not such dashes",
        arguments: ["a --b", "a – b", "a -- –b"])
    func noDash(line: String) {
        #expect(CommandSuggestion.dashSentence(for: line.split(separator: " ").map(String.init)) == nil)
    }

    @Test(
        "is named where nothing is like it, with where the commands are",
        arguments: [
            ("xyzzy", "rainctl has no command \"xyzzy\". See: rainctl help"),
            ("provision-all", "rainctl has no command \"provision-all\". See: rainctl help"),
            ("help xyzzy", "rainctl has no command \"xyzzy\". See: rainctl help"),
            ("node params xyzzy", "rainctl node params has no command \"xyzzy\". See: rainctl help node params"),
        ])
    func unlike(line: String, sentence: String) {
        #expect(CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init)) == sentence)
    }

    @Test(
        "one that exists is not, nor an option in its place",
        arguments: ["", "node", "--jsno", "login x", "help", "help help", "help node list", "node --help", "-h xyzzy"])
    func existing(line: String) {
        #expect(CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init)) == nil)
    }

    @Test("an option that is not similar is not suggested")
    func farOption() {
        let far = "Unknown option '--bogus'. Did you mean '--tags'?"
        #expect(CommandSuggestion.withoutFarSuggestion(far) == "Unknown option '--bogus'")
        #expect(CommandSuggestion.withoutFarSuggestion(far + "\nUsage: x") == "Unknown option '--bogus'\nUsage: x")
        for message in ["Unknown option '--tag'. Did you mean '--tags'?", "Unknown option '--bogus'", "Missing 'x'"] {
            #expect(CommandSuggestion.withoutFarSuggestion(message) == message)
        }
    }

    @Test("a name with spaces but without quotation marks is explained")
    func quotation() {
        func sentence(_ arguments: String...) -> String? {
            CommandSuggestion.quotationSentence(for: arguments, "Unexpected argument 'on'")
        }
        #expect(
            sentence("set", "Lamp", "3", "on")
                == "Unexpected argument 'on': if a name contains spaces, put it in quotation marks, as in 'Kitchen lamp'."
        )
        #expect(sentence("whoami", "on") == nil)
        #expect(CommandSuggestion.quotationSentence(for: ["set", "Lamp", "3"], "Missing value") == nil)
    }

    @Test("several boards as separate arguments get the form with commas", arguments: ["show", "watch"])
    func boards(command: String) {
        let sentence = CommandSuggestion.boardsSentence(for: ["node", command, "A", "B"], "Unexpected argument 'B'")
        #expect(sentence?.contains("with commas: rainctl node \(command) A,B.") == true, "\(sentence ?? "nil")")
        #expect(CommandSuggestion.boardsSentence(for: ["node", "config", "A", "B"], "Unexpected argument 'B'") == nil)
    }
}
