// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

@Suite("A cause in the text of an argument or a variable")
struct GivenCauseTests {
    private func explained(
        _ message: String, _ arguments: [String], _ environment: [String: String] = [:], isUsage: Bool = false
    ) -> String {
        GivenCause.explained(
            message, isUsage: isUsage, isRefusal: true, arguments: arguments, environment: environment)
    }

    @Test("an invisible character is named with its place")
    func invisible() {
        let message = "Light: The device Light has no parameter \u{200B}Power; it has Name, Power."
        #expect(
            explained(message, ["node", "params", "set", "Light", "Light.\u{200B}Power=on"]).hasPrefix(
                "Light: the argument contains an invisible character (U+200B) after \"Light.\"."))
        #expect(explained(message, ["node", "list"]) == message)
    }

    @Test("a name of an existing board with such a character is not the cause")
    func existing() {
        let message = "Hall\u{A0}lamp: Light.Power must be true or false."
        #expect(explained(message, ["node", "params", "set", "Hall\u{A0}lamp", "Light.Power=7"]) == message)
    }

    @Test(
        "a carriage return is named",
        arguments: [
            ("Unknown option '--json\r'", ["node", "list", "--json\r"], [:]),
            ("rainctl node has no command \"list \". See: rainctl help node", ["node", "list\r"], [:]),
            ("There is no deployment \"sim \".", ["node", "list", "--profile=sim\r"], [:]),
            (
                "The deployment \"sim \" does not exist here, but RAINKIT_PROFILE names it.", ["node", "list"],
                ["RAINKIT_PROFILE": "sim\r"]
            ),
        ] as [(String, [String], [String: String])])
    func carriageReturn(message: String, arguments: [String], environment: [String: String]) {
        let sentence = explained(message, arguments, environment, isUsage: true)
        #expect(sentence.contains("ends with a carriage return, because the script"), "\(sentence)")
    }

    @Test("quotation marks in a variable are named, and the next command is left out")
    func quotationMarks() {
        #expect(
            explained(
                "Nobody is signed in as 'me' at sim (the account is from RAINKIT_ACCOUNT). Run: rainctl login USER", [],
                ["RAINKIT_ACCOUNT": "'me'"])
                == "Nobody is signed in as 'me' at sim (the account is from RAINKIT_ACCOUNT): the value of RAINKIT_ACCOUNT is in "
                + "quotation marks, which belong to the value. Remove them.")
    }

    @Test(
        "a path that the shell did not complete is named",
        arguments: [
            ("~/pw.txt", "~/pw.txt", "~ was not replaced, because it was in quotation marks."),
            (
                "--password-file=~/pw.txt", "~/pw.txt",
                "~ was not replaced, because it was not at the beginning of a word."
            ),
            ("$HOME/pw.txt", "$HOME/pw.txt", "$HOME was not replaced, because it was in single quotation marks."),
        ])
    func path(argument: String, path: String, words: String) {
        let sentence = explained(
            "The password cannot be read from \(path): No such file or directory.", ["login", argument])
        #expect(sentence.hasPrefix("The password cannot be read from \(path): \(words)"), "\(sentence)")
        let other = "The password cannot be read from \(path): Permission denied."
        #expect(explained(other, ["login", argument]) == other)
    }
}
