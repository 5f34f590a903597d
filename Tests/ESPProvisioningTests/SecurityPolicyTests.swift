// SPDX-License-Identifier: Apache-2.0
import Testing
import RainCore

@testable import ESPProvisioning

@Suite("Which security is taken from a board")
struct SecurityPolicyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var wanted: Int?
        var least: SecurityRequirement
        var claim: SecurityRequirement
        /// What the refusal says; nil where there is none.
        var words: String?
        var remedy: Remedy?

        init(
            wanted: Int? = nil, least: SecurityRequirement = .none, _ claim: SecurityRequirement,
            _ words: String? = nil, _ remedy: Remedy? = nil
        ) {
            self.wanted = wanted
            self.least = least
            self.claim = claim
            self.words = words
            self.remedy = remedy
        }

        var testDescription: String { "\(claim), wanted \(wanted.map { "\($0)" } ?? "-"), at least \(least)" }
    }

    static let cases = [
        Case(.none),
        Case(.first(proof: false)),
        Case(.second),
        // The handshake reports an unknown scheme, with another message.
        Case(least: .second, SecurityRequirement(version: -1, needsProofOfPossession: false)),
        Case(least: .second, SecurityRequirement(version: 7, needsProofOfPossession: true)),

        Case(wanted: 1, .none, "uses Security 0, not 1.", .anySecurity),
        Case(wanted: 2, .first(proof: true), "uses Security 1, not 2.", .anySecurity),
        Case(wanted: 0, .first(proof: true), "uses Security 1, not 0.", .anySecurity),
        Case(wanted: 1, .first(proof: false)),
        Case(wanted: 0, .none),
        // What is insisted on does not make what is known any less.
        Case(
            wanted: 0, least: .first(proof: true), .none, "reports that it uses Security 0",
            .acceptedSecurity(version: 0)),

        Case(
            least: .first(proof: false), .none, "which encrypts nothing, but its label requires better protection",
            .acceptedSecurity(version: 0)),
        Case(least: .first(proof: true), .none, "Nothing secret was sent.", .acceptedSecurity(version: 0)),
        Case(least: .second, .first(proof: true), "uses Security 1, but its label", .acceptedSecurity(version: 1)),
        Case(
            least: .first(proof: true), .first(proof: false), "needs no proof of possession, but its label",
            .acceptedSecurity(version: 1)),
        Case(least: .first(proof: true), .first(proof: true)),
        Case(least: .first(proof: true), .second),
        Case(least: .first(proof: false), .first(proof: false)),
        Case(least: .second, .second),
    ]

    @Test(
        "a board that says less than what is wanted or known is refused, in words that say what to do", arguments: cases
    )
    func refusal(example: Case) throws {
        let refusal = SecurityPolicy(wanted: example.wanted, least: example.least).refusal(of: example.claim)
        guard let words = example.words else { return #expect(refusal == nil) }
        #expect(refusal?.code == .securityMismatch)
        #expect(refusal?.message.contains(words) == true, "\(refusal?.message ?? "none")")
        #expect(refusal?.remedies == [try #require(example.remedy)])
    }

    @Test("a proof of possession that is known is reason enough to refuse a session in clear, unless it was asked for")
    func expectsProof() {
        func refusal(_ claim: SecurityRequirement, wanted: Int? = nil) -> BoardError? {
            SecurityPolicy(wanted: wanted, least: .none, expectsProof: true).refusal(of: claim)
        }
        #expect(refusal(.none)?.code == .securityMismatch)
        #expect(refusal(.none)?.message.contains("you gave a proof of possession") == true)
        #expect(refusal(.none)?.remedies == [.acceptedSecurity(version: 0)])
        #expect(refusal(.none, wanted: 0) == nil)
        #expect(refusal(.first(proof: false)) == nil && refusal(.second) == nil)
    }
}

extension SecurityRequirement {
    fileprivate static let none = SecurityRequirement(version: 0, needsProofOfPossession: false)
    fileprivate static let second = SecurityRequirement(version: 2, patch: 1, needsProofOfPossession: true)
    fileprivate static func first(proof: Bool) -> SecurityRequirement {
        SecurityRequirement(version: 1, needsProofOfPossession: proof)
    }
}
