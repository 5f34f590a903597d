// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainCryptoOpenSSL
import RainKitTesting
import Testing

@Suite("Sessions under each security scheme")
struct SecuritySchemesTests {
    typealias Device = DeviceSecurity<OpenSSLCrypto, OpenSSLRandom>
    typealias Client = ClientSecurity<OpenSSLCrypto>

    enum Scheme: CaseIterable, Sendable { case security0, security1, security2Patch0, security2Patch1 }

    static let user = Array("wifiprov".utf8)

    func device(_ scheme: Scheme, _ secret: String = "abcd1234") throws -> Device {
        let secret = Array(secret.utf8)
        switch scheme {
        case .security0: return .security0(Security0Device())
        case .security1: return .security1(Security1Device(proofOfPossession: secret, random: OpenSSLRandom()))
        case .security2Patch0, .security2Patch1:
            let verifier = try Security2Verifier(
                username: Self.user, password: secret, salt: Array(1...16), with: OpenSSLCrypto.self)
            return .security2(
                Security2Device(
                    verifier: verifier, patchVersion: try #require(patch(scheme)), random: OpenSSLRandom()))
        }
    }

    func client(_ scheme: Scheme, _ secret: String = "abcd1234") throws -> Client {
        var random = OpenSSLRandom()
        let secret = Array(secret.utf8)
        switch scheme {
        case .security0: return .security0(Security0Client())
        case .security1: return .security1(Security1Client(proofOfPossession: secret, random: &random))
        case .security2Patch0, .security2Patch1:
            return .security2(
                Security2Client(
                    username: Self.user, password: secret, patchVersion: try #require(patch(scheme)), random: &random))
        }
    }

    func patch(_ scheme: Scheme) -> Security2PatchVersion? { Security2PatchVersion(scheme == .security2Patch0 ? 0 : 1) }

    func session(
        _ device: Device, fault: @escaping @Sendable (Int, Endpoint) -> InMemoryTransport.Fault? = { _, _ in nil }
    ) -> ProtocommSession {
        let board = SecuredBoard(device) { request, _ in request.first == 0xEE ? nil : request.reversed() }
        let transport = InMemoryTransport(fault: fault) { await board.answer($0, on: $1) }
        // No deadline comes, however busy the machine is.
        return ProtocommSession(transport: transport, clock: ManualClock())
    }

    func code(_ body: () async throws -> Void) async -> BoardError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? BoardError)?.code
        }
    }

    @Test("both ends stay in step over many messages of any length", arguments: Scheme.allCases)
    func inStep(scheme: Scheme) async throws {
        let session = session(try device(scheme))
        try await session.handshake(try client(scheme))
        for length in 1...40 {
            let request = (0..<length).map { UInt8($0) }
            #expect(try await session.request(request, on: .config) == request.reversed())
        }
    }

    @Test(
        "a wrong proof of possession is reported, and the right one then opens the session",
        arguments: Scheme.allCases.dropFirst())
    func wrongProof(scheme: Scheme) async throws {
        let session = session(try device(scheme))
        #expect(await code { try await session.handshake(try client(scheme, "wrong")) } == .wrongProofOfPossession)
        #expect(await code { _ = try await session.request([1], on: .config) } == .handshakeNeeded)
        try await session.handshake(try client(scheme))
        #expect(try await session.request([1, 2], on: .config) == [2, 1])
    }

    @Test("another scheme than the board's is a mismatch", arguments: Scheme.allCases)
    func mismatch(scheme: Scheme) async throws {
        for other in [Scheme.security0, .security1, .security2Patch1] where other != scheme {
            if scheme == .security2Patch0, other == .security2Patch1 { continue }
            let session = session(try device(scheme))
            #expect(await code { try await session.handshake(try client(other)) } == .securityMismatch)
        }
    }

    @Test("the wrong patch version shows with the first answer, not as garbage")
    func wrongPatch() async throws {
        let session = session(try device(.security2Patch1))
        let failure = await code {
            try await session.handshake(try client(.security2Patch0))
            _ = try await session.request([1], on: .config)
        }
        #expect(failure != nil)
    }

    @Test("after a refusal or a lost answer a new handshake restores the session", arguments: Scheme.allCases)
    func mending(scheme: Scheme) async throws {
        let session = session(try device(scheme))
        try await session.handshake(try client(scheme))
        for _ in 0..<3 {
            #expect(await code { _ = try await session.request([0xEE], on: .config) } == .refused)
            #expect(await code { _ = try await session.request([1], on: .config) } == .handshakeNeeded)
            try await session.handshake(try client(scheme))
            #expect(try await session.request([1, 2], on: .config) == [2, 1])
        }
    }

    @Test("a request that never left does not put the ends out of step", arguments: Scheme.allCases)
    func unsent(scheme: Scheme) async throws {
        let handshakes = scheme == .security0 ? 1 : 2
        let session = session(try device(scheme)) { number, _ in number == handshakes ? .fail(.unreachable) : nil }
        try await session.handshake(try client(scheme))
        #expect(await code { _ = try await session.request([1, 2], on: .config) } == .unreachable)
        for _ in 0..<3 { #expect(try await session.request([1, 2], on: .config) == [2, 1]) }
    }
}
