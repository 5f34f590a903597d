// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainKitTesting
import Testing

@Suite("The in-memory transport", .timeLimit(.minutes(10)))
struct InMemoryTransportTests {
    @Test("keeps the promises of every transport")
    func conformance() async throws {
        try await TransportConformance.check {
            InMemoryTransport(maximumRequestLength: 100) { request, endpoint in
                guard endpoint == .config else { return nil }
                switch TransportConformance.Board.reply(to: request) {
                case .answer(let bytes): return bytes
                case .refuse: return nil
                case .silence:
                    try? await Task.sleep(for: .seconds(3600))
                    return []
                }
            }
        }
    }

    @Test("a transport that breaks a promise is found out")
    func brokenPromise() async throws {
        await #expect(throws: TransportConformance.Failure.self) {
            try await TransportConformance.check { InMemoryTransport { request, _ in request } }
        }
    }
}
