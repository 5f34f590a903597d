// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCryptoOpenSSL
import TestSupport
import Testing

@Suite("PKCE and state")
struct CodeVerifierTests {
    /// RFC 7636, appendix B.
    private let octets: [UInt8] = [
        116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240,
        91, 88, 5, 88, 83, 132, 141, 121,
    ]

    @Test("RFC 7636, appendix B, byte for byte")
    func published() {
        var random = ScriptedRandom(octets)
        let verifier = CodeVerifier(random: &random)
        #expect(verifier.secret.revealString() == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        let challenge = verifier.challenge(OpenSSLHashes.self)
        #expect(challenge.text == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(challenge.method.rawValue == "S256")
        #expect(CodeVerifier(verifier.secret) == verifier)
    }

    @Test("a verifier has 43 to 128 unreserved characters")
    func bounds() {
        for (length, isValid) in [(0, false), (42, false), (43, true), (128, true), (129, false)] {
            #expect((CodeVerifier(Secret(String(repeating: "~", count: length))) != nil) == isValid, "\(length)")
        }
        for character in ["+", "/", "=", " ", "é", "\n"] {
            #expect(CodeVerifier(Secret(String(repeating: "a", count: 43) + character)) == nil)
        }
    }

    @Test("a state is 256 random bits; a given one must be visible ASCII of a bounded length")
    func state() {
        var random = ScriptedRandom(octets + [UInt8](repeating: 255, count: 32))
        #expect(State(random: &random).secret.revealString() == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(State(random: &random).secret.revealString() == "__________________________________________8")
        #expect(State("port:8080")?.secret.revealString() == "port:8080")
        for text in ["", "é", "a\nb", String(repeating: "a", count: 1025)] { #expect(State(text) == nil) }
        #expect(State(String(repeating: "a", count: 1024)) != nil)
    }

    @Test("neither prints itself")
    func secrecy() {
        var random = ScriptedRandom(octets + octets)
        let words = "\(CodeVerifier(random: &random)) \(State(random: &random))"
        #expect(!words.contains("dBjft"))
    }
}
