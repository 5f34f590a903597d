import Testing

@testable import CloudSimulator

@Suite struct RefreshTokenTests {
    @Test("without rotation the same token is accepted until it expires")
    func kept() {
        var (text, token) = RefreshToken.issue(session: "s", expiresAt: 100)
        #expect(RefreshToken.session(of: text) == "s")
        for now in [0, 50, 99] as [Int64] {
            #expect(token.redeem(text, at: now, rotating: false) == .accepted(replacement: nil))
        }
        #expect(token.redeem(text, at: 100, rotating: false) == .expired)
    }

    @Test("with rotation each refresh gives a new token, and those before are refused as replaced")
    func rotated() throws {
        var (text, token) = RefreshToken.issue(session: "s", expiresAt: 100)
        var old: [String] = []
        for _ in 0..<RefreshToken.remembered {
            guard case .accepted(let next?) = token.redeem(text, at: 0, rotating: true) else {
                return #expect(Bool(false), "not accepted")
            }
            old.append(text)
            text = next
        }
        for replaced in old { #expect(token.redeem(replaced, at: 0, rotating: true) == .replaced) }
        #expect(token.redeem(text, at: 0, rotating: false) == .accepted(replacement: nil), "reuse ends nothing, so far")
    }

    @Test("what was never issued is unknown", arguments: ["", "s", "s.", "s.x", ".", "t.abc", "s.abc.d"])
    func unknown(text: String) {
        var (_, token) = RefreshToken.issue(session: "s", expiresAt: 100)
        #expect(token.redeem(text, at: 0, rotating: true) == .unknown)
    }
}
