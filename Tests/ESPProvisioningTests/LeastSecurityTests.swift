// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommCore
import RainCore
import Synchronization
import Testing

/// What a board says in clear of its security is no less than what is known of it beforehand, or nothing more is said to it.
@Suite("What is known of a board's security beforehand")
struct LeastSecurityTests {
    static let labels: [(text: String, version: Int, needsProof: Bool)] = [
        (#"{"name":"X","pop":"p"}"#, 1, true), (#"{"name":"X","username":"wifiprov","pop":"p"}"#, 2, true),
        (#"{"name":"X","pop":"p","security":2}"#, 2, true), (#"{"name":"X","pop":"p","security":1}"#, 1, true),
        (#"{"name":"X","username":"wifiprov","pop":"p","security":1}"#, 1, true),
        (#"{"name":"X","security":1}"#, 1, false), (#"{"name":"X","security":2}"#, 2, false),
        (#"{"name":"X","pop":"p","security":0}"#, 0, false), (#"{"name":"X"}"#, 0, false),
        ("NP:X|p|b", 1, true), ("NP:X||b", 0, false), (#"https://x/q?data={"name":"X","pop":"p"}"#, 1, true),
        ("https://x/q?data=NP:X|p|s", 1, true),
    ]

    @Test("a label with a proof of possession means a session that uses it", arguments: labels)
    func label(text: String, version: Int, needsProof: Bool) throws {
        #expect(
            try QRPayload(Array(text.utf8)).leastSecurity
                == SecurityRequirement(version: version, needsProofOfPossession: needsProof))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var board: String
        var least: SecurityRequirement
        /// The remedy with which it is accepted; nil if it is not refused.
        var remedy: Remedy?
        var testDescription: String { "\(board), at least \(least)" }
    }

    private static func least(_ version: Int, _ needsProof: Bool) -> SecurityRequirement {
        SecurityRequirement(version: version, needsProofOfPossession: needsProof)
    }

    static let cases: [Case] = [
        Case(board: #""sec_ver":0,"cap":["no_sec"]"#, least: least(1, false), remedy: .acceptedSecurity(version: 0)),
        Case(board: #""sec_ver":0,"cap":["no_sec"]"#, least: least(1, true), remedy: .acceptedSecurity(version: 0)),
        Case(board: #""cap":["no_sec"]"#, least: least(1, false), remedy: .acceptedSecurity(version: 0)),
        Case(board: #""sec_ver":1,"cap":["no_pop"]"#, least: least(1, true), remedy: .acceptedSecurity(version: 1)),
        Case(board: #""sec_ver":1,"cap":[]"#, least: least(2, true), remedy: .acceptedSecurity(version: 1)),
        Case(board: #""sec_ver":0,"cap":["no_sec"]"#, least: least(0, false)),
        Case(board: #""sec_ver":1,"cap":["no_pop"]"#, least: least(1, false)),
        Case(board: #""sec_ver":1,"cap":[]"#, least: least(1, true)),
        Case(board: #""sec_ver":2,"sec_patch_ver":1,"cap":[]"#, least: least(1, true)),
        Case(board: #""sec_ver":2,"sec_patch_ver":1,"cap":[]"#, least: least(2, true)),
    ]

    @Test("a board that claims less is asked nothing more", arguments: cases)
    func claims(example: Case) async throws {
        let firmware = ScriptedFirmware(version: #"{"prov":{"ver":"v1.1",\#(example.board)}}"#) { _, _ in nil }
        let asks = Mutex(0)
        var credentials = BoardCredentials {
            asks.withLock { $0 += 1 }
            return ProofOfPossession("abcd1234")
        }
        credentials.leastSecurity = example.least
        let board = firmware.board(credentials: credentials)
        _ = try await board.identify()
        var failure: BoardError?
        // The firmware here shakes hands under Security 0 alone: what counts is whether it is asked to.
        do { try await board.secure() } catch { failure = error }
        #expect(firmware.asked.contains(.session) == (example.remedy == nil))
        guard let remedy = example.remedy else { return }
        #expect(failure?.code == .securityMismatch)
        #expect(failure?.remedies == [remedy])
        #expect(asks.withLock { $0 } == 0)
    }

    @Test(
        "a session without a proof is reported, once and before it begins", arguments: [("no_pop", true), ("", false)])
    func unproven(capability: String, isTold: Bool) async throws {
        let firmware = ScriptedFirmware(version: #"{"prov":{"sec_ver":1,"cap":["\#(capability)"]}}"#) { _, _ in nil }
        let told = Mutex<[Int]>([])
        var credentials = BoardCredentials { ProofOfPossession("abcd1234") }
        credentials.whenUnproven = { _ in told.withLock { $0.append(firmware.asked.count) } }
        let board = firmware.board(credentials: credentials)
        _ = try await board.identify()
        _ = try? await board.secure()
        #expect(told.withLock { $0 } == (isTold ? [1] : []))
    }

    @Test("nothing is reported about the proof for a scheme that is not supported")
    func unsupported() async throws {
        let firmware = ScriptedFirmware(version: #"{"prov":{"sec_ver":7,"cap":["wifi_scan"]}}"#) { _, _ in nil }
        let told = Mutex(0)
        var credentials = BoardCredentials { ProofOfPossession("abcd1234") }
        credentials.whenUnproven = { _ in told.withLock { $0 += 1 } }
        let board = firmware.board(credentials: credentials)
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(error?.code == .securityMismatch && error?.message.contains("Security 7") == true)
        #expect(told.withLock { $0 } == 0)
    }
}
