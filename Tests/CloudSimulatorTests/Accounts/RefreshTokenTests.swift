// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CloudSimulator

@Suite struct RefreshTokenTests {
    private static let punishing = RefreshToken.Rotation(grace: 0)
    private static let lenient = RefreshToken.Rotation(grace: 10)

    @Test("without rotation the same token is accepted until it expires")
    func kept() {
        var (text, token) = RefreshToken.issue(session: "s", expiresAt: 100)
        #expect(RefreshToken.session(of: text) == "s")
        for now in [0, 50, 99] as [Int64] {
            #expect(token.redeem(text, at: now, rotation: nil) == .accepted)
            #expect(token.accepts(text, at: now))
        }
        #expect(token.redeem(text, at: 100, rotation: nil) == .expired)
        #expect(!token.accepts(text, at: 100))
    }

    @Test("with rotation each refresh gives a new token, and those before are reused ones")
    func rotated() throws {
        var (text, token) = RefreshToken.issue(session: "s", expiresAt: 100)
        var old: [String] = []
        for _ in 0..<RefreshToken.remembered {
            let verdict = token.redeem(text, at: 0, rotation: Self.punishing)
            let next = try #require(verdict.replacement)
            #expect(verdict == .rotated(next) && next != text)
            old.append(text)
            text = next
        }
        for replaced in old {
            #expect(token.redeem(replaced, at: 0, rotation: Self.punishing) == .reused)
            #expect(!token.accepts(replaced, at: 0))
        }
        #expect(token.redeem(text, at: 0, rotation: nil) == .accepted)
    }

    @Test("within the grace a replaced token gets another replacement, and both replacements work")
    func grace() throws {
        var (first, token) = RefreshToken.issue(session: "s", expiresAt: 100)
        let second = try #require(token.redeem(first, at: 20, rotation: Self.lenient).replacement)
        let verdict = token.redeem(first, at: 29, rotation: Self.lenient)
        let other = try #require(verdict.replacement)
        #expect(verdict == .grace(other) && other != second && other != first)
        // The grace counts from the first replacement, however often it was used.
        #expect(token.redeem(first, at: 30, rotation: Self.lenient) == .reused)
        for text in [second, other] {
            let next = try #require(token.redeem(text, at: 40, rotation: Self.lenient).replacement)
            #expect(token.accepts(next, at: 40))
        }
    }

    @Test("grace does not outlive the session's own end")
    func graceEnds() throws {
        var (first, token) = RefreshToken.issue(session: "s", expiresAt: 25)
        _ = token.redeem(first, at: 20, rotation: Self.lenient)
        #expect(token.redeem(first, at: 25, rotation: Self.lenient) == .reused)
    }

    @Test("what was never issued is unknown", arguments: ["", "s", "s.", "s.x", ".", "t.abc", "s.abc.d"])
    func unknown(text: String) {
        var (_, token) = RefreshToken.issue(session: "s", expiresAt: 100)
        #expect(token.redeem(text, at: 0, rotation: Self.lenient) == .unknown)
        #expect(!token.accepts(text, at: 0))
    }
}
