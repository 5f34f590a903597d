// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCryptoOpenSSL
import RainKitTesting
import Synchronization
import Testing

/// Boards whose Security 2 verifier was made otherwise than the standard says: they never take the right proof the first time.
@Suite("Security 2 verifiers that were made wrong")
struct FaultyVerifierTests {
    enum Verifier: CaseIterable, Sendable {
        case right
        /// The board drew a salt of 00 and these fifteen bytes, lost the 00, and stored one byte from behind it.
        case lostFirstByteOfSalt
        /// Made with numbers, by a tool on a computer: the hash of name and password begins with 00, which is lost.
        case shortInnerHash

        /// SHA-512 of "wifiprov:PROOF" begins with 00 for the last.
        var proof: String { self == .shortInnerHash ? "pop212" : "abcd1234" }

        func make() throws -> Security2Verifier {
            let (user, password) = (Array("wifiprov".utf8), Array(proof.utf8))
            let salt = Array<UInt8>(1...16)
            switch self {
            case .right:
                return try Security2Verifier(username: user, password: password, salt: salt, with: OpenSSLCrypto.self)
            case .lostFirstByteOfSalt:
                let made = try Security2Verifier(
                    username: user, password: password, salt: Array(salt.prefix(15)), with: OpenSSLCrypto.self)
                return Security2Verifier(salt: salt, verifier: made.verifier)
            case .shortInnerHash:
                return try Security2Verifier(
                    username: user, password: password, salt: salt, passwordHash: .withoutLeadingZeros,
                    with: OpenSSLCrypto.self)
            }
        }
    }

    private final class Asked: Sendable {
        let endpoints = Mutex<[Endpoint]>([])
        var all: [Endpoint] { endpoints.withLock { $0 } }
    }

    private let asked = Asked()

    private static let provisioning =
        #"{"prov":{"ver":"netprov-v1.2","sec_ver":2,"sec_patch_ver":1,"cap":["wifi_scan"]}}"#

    private func board(
        _ verifier: Verifier, proof: String, refusedBefore: Int = 0, version: String = Self.provisioning
    ) throws -> some Board {
        let device = Security2Device<OpenSSLCrypto, OpenSSLRandom>(
            verifier: try verifier.make(), patchVersion: .countedNonce, random: OpenSSLRandom())
        let firmware = SecuredBoard(device, version: version) { _, _ in
            NetworkControlPayload(.responseWiFiReset).encoded()
        }
        let transport = InMemoryTransport { [asked] request, endpoint in
            asked.endpoints.withLock { $0.append(endpoint) }
            return await firmware.answer(request, on: endpoint)
        }
        var credentials = BoardCredentials { ProofOfPossession(proof) }
        credentials.refusedBefore = refusedBefore
        return ProtocommBoard(
            transport: transport, credentials: credentials,
            suite: OpenSSLCrypto.self, random: OpenSSLRandom(), logger: Logger(label: "test"))
    }

    @Test("are met by a second handshake, and the session is a session", arguments: Verifier.allCases)
    func rightProof(verifier: Verifier) async throws {
        let board = try board(verifier, proof: verifier.proof)
        _ = try await board.identify()
        try await board.secure()
        let handshakes = verifier == .right ? 1 : 2
        #expect(asked.all == [.version] + Array(repeating: .session, count: 2 * handshakes))
        // Only who has the same keys reads the answer.
        try await board.reset()
    }

    @Test("a wrong proof is tried both ways and refused, and no third time", arguments: Verifier.allCases)
    func wrongProof(verifier: Verifier) async throws {
        let board = try board(verifier, proof: verifier.proof + "x")
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(error?.code == .wrongProofOfPossession)
        #expect(asked.all == [.version, .session, .session, .session, .session])
        #expect(error?.refusedProofs == 2)
    }

    @Test("one that is typed after a refusal is one proof to the board, and the refusals before are counted with it")
    func proofAfterRefusal() async throws {
        let board = try board(.right, proof: "wrong too", refusedBefore: 2)
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(asked.all == [.version, .session, .session])
        #expect(error?.refusedProofs == 3)
        #expect(error?.message.contains("has now received 3 wrong proofs") == true)
        #expect(
            BoardError.countOfWrongProofs(1).hasPrefix(
                "After five wrong proofs, and after it has been set up, a RainMaker board"))
        let first = error?.message.split(separator: ".").first ?? ""
        #expect(first.contains("proof of possession or the user name \""), "\(first)")
        #expect(first.split(separator: " ").count <= 20, "\(first)")
    }

    @Test("the proof that was sent in two forms explains the count")
    func countOfForms() async throws {
        let board = try board(.right, proof: "wrong")
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(
            error?.message.contains("has now received 2 wrong proofs, because the proof was sent in two forms.")
                == true,
            "\(error?.message ?? "")")
    }

    @Test("after five wrong proofs the board may refuse the right one, too")
    func spent() async throws {
        let board = try board(.right, proof: "wrong", refusedBefore: 4)
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(error?.refusedProofs == 5)
        #expect(
            error?.message.hasPrefix("The board has received 5 wrong proofs, and may now refuse every proof") == true,
            "\(error?.message ?? "")")
    }

    @Test("a board on its network counts no wrong proofs, and no message mentions a count")
    func uncounted() async throws {
        let board = try board(
            .right, proof: "wrong", version: #"{"local_ctrl":{"ver":"v1.0","sec_ver":2,"sec_patch_ver":1}}"#)
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(error?.code == .wrongProofOfPossession && error?.refusedProofs == 0)
        #expect(error?.message.contains("five wrong") == false, "\(error?.message ?? "")")
    }

    @Test(
        "a whole QR code in the place of the proof is refused before the board counts it",
        arguments: [
            #"{"ver":"v1","name":"PROV_1","pop":"abcd1234","transport":"ble"}"#, "NP:PROV_1|abcd1234|b",
            #"https://rainmaker.espressif.com/qrcode.html?data={"name":"PROV_1","pop":"abcd1234"}"#,
        ])
    func codeAsProof(proof: String) async throws {
        let board = try board(.right, proof: proof)
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(error?.code == .malformed && error?.reason == "qr_code_as_proof")
        #expect(error?.message.contains("abcd1234") == false)
        #expect(asked.all == [.version])
    }
}
