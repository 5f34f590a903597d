// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@Suite("Words for a shell")
struct ShellWordTests {
    @Test(
        "plain words stay as they are",
        arguments: [
            "ada", "ada@example.com", "ada+boards@example.com", "/dev/ttyUSB0", "rfc2217://host:4000", "a,b", "a=b",
            "50%",
            "urn:oclc:91475", "-x",
        ])
    func plain(word: String) {
        #expect(ShellWord.isPlain(word) && ShellWord.quoted(word) == word)
    }

    @Test(
        "everything else is quoted",
        arguments: [
            ("", "''"), (" ", "' '"), ("a b", "'a b'"), ("x$(id)@e.example", "'x$(id)@e.example'"), ("`id`", "'`id`'"),
            ("a;b", "'a;b'"), ("a|b", "'a|b'"), ("a&b", "'a&b'"), ("<(id)", "'<(id)'"), ("${IFS}", "'${IFS}'"),
            ("~root", "'~root'"), ("*", "'*'"), ("a?", "'a?'"), ("[ab]", "'[ab]'"), ("{a,b}", "'{a,b}'"),
            ("#x", "'#x'"),
            ("!1", "'!1'"), ("^a^b", "'^a^b'"), ("\"", "'\"'"), ("=ls", "'=ls'"), ("Ж", "'Ж'"), ("a\nb", "'a\nb'"),
            ("o'brien", #"'o'\''brien'"#), ("'", #"''\'''"#), (#"a\b"#, #"'a'\\'b'"#), (#"a\"#, #"'a'\\''"#),
            (#"\'$(id)"#, #"''\\''\''$(id)'"#),
            // One `Character` each: a quote or a backslash, and a mark that combines with it.
            ("'\u{301}$(id)", "''\\''\u{301}$(id)'"), ("'\u{200D}$(id)", "''\\''\u{200D}$(id)'"),
            ("\\\u{301}x", "''\\\\'\u{301}x'"), ("\\\u{200D}x", "''\\\\'\u{200D}x'"),
            ("\u{600}'x", "'\u{600}'\\''x'"),
        ])
    func quoted(text: String, word: String) {
        #expect(!ShellWord.isPlain(text) && ShellWord.quoted(text) == word)
    }
}
