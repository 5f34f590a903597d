// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import RainMaker
@testable import rainctl

@Suite("Names as a person gave them")
struct GivenNameTests {
    @Test(
        "what cannot be seen is in the message",
        arguments: [
            ("lamp", "\"lamp\""), ("my lamp", "\"my lamp\""),
            (" lamp", "\" lamp\" (the given name has a space before or after it)"),
            ("lamp\r", "\"lamp\" (the given name has a line end before or after it)"),
            ("lamp\r\n", "\"lamp\" (the given name has a line end before or after it)"),
        ])
    func shown(name: String, shown: String) { #expect(name.asGiven == shown) }

    @Test("blanks around a name in a list are left out", arguments: [" fan", "fan\r", "\tfan ", "fan"])
    func list(name: String) { #expect(name.withoutOuterBlanks == "fan") }
}
