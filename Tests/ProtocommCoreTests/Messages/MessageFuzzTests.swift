// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport
import Testing

/// Each decoder takes mutated input: no crash, no slow input, no growing memory (``fuzz``).
@Suite("Messages, fuzzed")
struct MessageFuzzTests {
    @Test("session messages")
    func session() async throws {
        try await withOwnProcessInSoak { check(SessionData.self, seed: 1) }
    }

    @Test("network configuration")
    func config() async throws {
        try await withOwnProcessInSoak { check(NetworkConfigPayload.self, seed: 2) }
    }

    @Test("network scan")
    func scan() async throws {
        try await withOwnProcessInSoak { check(NetworkScanPayload.self, seed: 3) }
    }

    @Test("network control")
    func control() async throws {
        try await withOwnProcessInSoak { check(NetworkControlPayload.self, seed: 4) }
    }

    @Test("user mapping")
    func userMapping() async throws {
        try await withOwnProcessInSoak { check(UserMappingPayload.self, seed: 5) }
    }

    @Test("challenge and response")
    func challenge() async throws {
        try await withOwnProcessInSoak { check(ChallengeResponsePayload.self, seed: 6) }
    }

    @Test("claiming")
    func claim() async throws {
        try await withOwnProcessInSoak { check(ClaimPayload.self, seed: 7) }
    }

    @Test("local data")
    func localData() async throws {
        try await withOwnProcessInSoak { check(LocalDataPayload.self, seed: 8) }
    }

    @Test("local control")
    func localControl() async throws {
        try await withOwnProcessInSoak { check(LocalControlMessage.self, seed: 9) }
    }
}

/// What decodes must also survive its own encoding: bytes that a decoder took and an encoder changed would be a misreading.
private func check<Message: WireMessage>(_: Message.Type, seed: UInt64) {
    let examples = Samples.ofEveryMessage
    let report = fuzz("\(Message.self)", from: examples, seed: seed) { input in
        guard let message = try? Message(decoding: input) else { return }
        #expect((try? Message(decoding: message.encoded())) == message)
    }
    #expect(report.failures == [], "\(report.complaint)")
}
