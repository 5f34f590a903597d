// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainJSON
import TestSupport
import Testing

/// libcrypto asks whoever sits at the terminal, or standard input, and waits; a simulator has one thread for all its clients.
@Suite("PEM under a pass phrase")
struct PassPhraseTests {
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
        -----END CERTIFICATE-----

        """

    @Test("a certificate file that wants one is refused at the start")
    func file() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(Self.certificate, to: "node.crt")
            let finished = try await run(
                try Executables.path("firmware-sim"), ["--http", "127.0.0.1:0", "--cert", folder.file("node.crt")],
                input: .open)
            #expect(finished.status == .exited(64))
            #expect(finished.standardError.contains("node.crt: no certificate in PEM"))
            #expect(!finished.standardError.contains("pass phrase"))
        }
    }

    @Test("a claim that brings such a certificate is refused, and the board goes on")
    func claim() async throws {
        try await withChildProcess(
            try Executables.path("firmware-sim"),
            SimulatedBoard.arguments(["--http", "127.0.0.1:0", "--security", "0", "--unclaimed"]),
            input: .open
        ) { board in
            let ready = try JSONValue(parsing: Array(try await board.readyLine().utf8))
            let peer = try RawHTTPPeer(try #require(ready["http"]?.string))
            func claim(_ type: ClaimMessageType, _ buffer: PayloadBuffer) async throws -> PayloadResponse<ClaimStatus> {
                peer.post("rmaker_claim", ClaimPayload(type, .command(buffer)).encoded())
                let answer = try ClaimPayload(decoding: await peer.nextResponse().body)
                guard case .response(let response)? = answer.payload else {
                    throw SerialPeer.Failure(description: "no answer to \(type): \(board.standardError)")
                }
                return response
            }
            func whole(_ document: JSONValue) -> PayloadBuffer {
                let text = document.serialized()
                return PayloadBuffer(payload: text, totalLength: UInt32(text.count))
            }
            _ = try await claim(.commandStart, PayloadBuffer())
            var request = try await claim(.commandInit, whole(["node_id": "node-1"])).buffer
            while let part = request, part.offset + UInt32(part.payload.count) < part.totalLength {
                request = try await claim(.commandInit, PayloadBuffer()).buffer
            }
            let verdict = try await claim(.commandVerify, whole(["certificate": .string(Self.certificate)]))
            #expect(verdict.status == .invalidParameter)
            #expect(!board.standardError.contains("pass phrase"))
        }
    }
}
