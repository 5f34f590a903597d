// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@Suite("Remarks on a given text")
struct GivenTextTests {
    @Test(
        "characters that nobody sees, or that do not belong to a value, are named",
        arguments: [
            ("Light\u{200B}", "The name contains an invisible character (U+200B) after \"Light\". Type it again."),
            ("\u{FEFF}Light", "The name contains an invisible character (U+FEFF) at its beginning. Type it again."),
            ("Kit\u{AD}chen", "The name contains an invisible character (U+00AD) after \"Kit\". Type it again."),
            (
                "sim\r",
                "The name ends with a carriage return, because the script or the file of variables has Windows line endings."
            ),
            ("\"sim\"", "The name is in quotation marks, which belong to the value. Remove them."),
            ("<me@example.com>", "The name is in angle brackets, which belong to the value. Remove them."),
            ("me@example.com ", "The name ends with a space."),
            ("\u{201C}n9\u{201D}", "\u{201C} is a typographic quotation mark, so type ' or \" instead."),
        ])
    func remark(text: String, remark: String) { #expect(GivenText.remark(on: text, as: "The name") == remark) }

    @Test(
        "usual names, emoji and words of other languages get no remark",
        arguments: [
            "", "Light", "Kitchen lamp", "O'Neil", "\u{1F468}\u{200D}\u{1F469}", "\u{645}\u{6CC}\u{200C}\u{62E}",
        ])
    func usual(text: String) { #expect(GivenText.remark(on: text, as: "The name") == nil) }

    @Test("the part with the character is between separators")
    func piece() { #expect(GivenText.invisible(in: "Light.\u{200B}Power=on")?.piece == "\u{200B}Power") }
}
