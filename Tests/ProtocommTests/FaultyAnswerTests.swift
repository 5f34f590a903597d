// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainKitTesting
import Testing

@Suite("A board's faulty answer")
struct FaultyAnswerTests {
    @Test(
        "a status has its number and its name",
        arguments: [
            (0, "success"), (1, "invalid security scheme"), (2, "invalid protocol"), (3, "too many sessions"),
            (4, "invalid argument"), (5, "internal error"), (6, "cryptography error"), (7, "invalid session"),
            (9, "unknown"),
        ] as [(Int32, String)])
    func title(number: Int32, name: String) {
        #expect(Status(rawValue: number).title == "status \(number) (\(name))")
    }

    @Test("the other messages have statuses of their own")
    func titles() {
        #expect(UserMappingStatus.invalidState.title == "status 2 (invalid state)")
        #expect(ChallengeResponseStatus.disabled.title == "status 3 (disabled)")
        #expect(ClaimStatus.noMemory.title == "status 4 (no memory)")
    }

    @Test(
        "a missing endpoint is named, with what the firmware does not offer",
        arguments: [
            (Endpoint.config, "The board has no endpoint prov-config: its firmware does not offer Wi-Fi settings"),
            (.session, "The board has no endpoint prov-session: its firmware does not offer a secure session."),
            (.scan, "The board has no endpoint prov-scan: its firmware does not offer a scan"),
            (Endpoint("my-data"), "The board has no endpoint my-data."),
        ])
    func missing(endpoint: Endpoint, start: String) {
        let error = BoardError.missing(endpoint, "board")
        #expect(error.code == .noSuchEndpoint && error.endpoint == endpoint)
        #expect(error.message.hasPrefix(start), "\(error.message)")
    }

    @Test(
        "a status at the first step of the handshake is named; too many sessions are another client's",
        arguments: [
            (Status.tooManySessions, BoardError.Code.busy, "The board has too many sessions (status 3)"),
            (
                .internalError, .securityMismatch,
                "The board rejected step 1 of the handshake of Security 0: it answered with status 5 (internal error)."
            ),
        ])
    func handshake(status: Status, code: BoardError.Code, start: String) async throws {
        let transport = InMemoryTransport { _, _ in
            SessionData(.security0(Security0Payload(.response(StatusResponse(status))))).encoded()
        }
        let session = ProtocommSession(transport: transport)
        let error = await #expect(throws: BoardError.self) { try await session.handshake(Security0Client()) }
        #expect(error?.code == code)
        #expect(error?.message.hasPrefix(start) == true, "\(error?.message ?? "")")
    }

    /// Answers every request with an empty body, as a web server can.
    private struct EmptyAnswers: Transport {
        let peer = "board"
        func maximumRequestLength(on endpoint: Endpoint) -> Int? { nil }
        func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
            throw BoardError(
                .refused, endpoint: endpoint, peer: peer, message: "empty", reason: BoardError.emptyAnswer)
        }
        func close() async {}
    }

    @Test("an empty answer to the first step of the handshake is not called a refusal")
    func empty() async throws {
        let session = ProtocommSession(transport: EmptyAnswers())
        let error = await #expect(throws: BoardError.self) { try await session.handshake(ToyScheme()) }
        #expect(error?.code == .securityMismatch)
        #expect(error?.message.hasPrefix("The board's answer to step 1 of the handshake is empty.") == true)
    }
}
