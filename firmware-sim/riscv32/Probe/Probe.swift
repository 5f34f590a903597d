// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto

// Embedded Swift compiles a generic type only where it is used with concrete types. `scripts/build-embedded` compiles these uses; they are
// never run.

/// Uses both sides of every scheme, and a message of the wire, with concrete types.
public func probeSecurity(_ bytes: [UInt8], securityVersion: Int) throws(HandshakeError) -> [UInt8] {
    var random = ReproducibleRandom(seed: 1)
    let patch = Security2PatchVersion(securityVersion) ?? .countedNonce
    var client: ClientSecurity<ProbeSuite>
    var device: DeviceSecurity<ProbeSuite, ReproducibleRandom>
    switch securityVersion {
    case 0:
        client = .security0(Security0Client())
        device = .security0(Security0Device())
    case 1:
        client = .security1(Security1Client(proofOfPossession: bytes, random: &random))
        device = .security1(Security1Device(proofOfPossession: bytes, random: random))
    default:
        let verifier: Security2Verifier
        do throws(CryptoFailure) {
            verifier = try Security2Verifier(username: bytes, password: bytes, salt: bytes, with: ProbeSuite.self)
        } catch { throw .cryptoFailure }
        client = .security2(
            Security2Client(username: bytes, password: bytes, patchVersion: patch, random: &random))
        device = .security2(Security2Device(verifier: verifier, patchVersion: patch, random: random))
    }
    var step = try client.start()
    while case .send(let request) = step {
        switch try device.respond(to: request) {
        case .reply(let reply): step = try client.receive(reply)
        case .established(let reply, var cipher):
            step = try client.receive(reply)
            do throws(CipherError) { _ = try cipher.decrypt(cipher.encrypt(bytes)) } catch { throw .malformed }
        }
    }
    _ = try client.finish()
    return ProbeSuite.hmacSHA256(bytes, key: bytes) + random.bytes(1)
}

/// Uses the decoder and the encoder of every message with concrete types.
public func probeWire(_ bytes: [UInt8]) throws(WireError) -> [UInt8] {
    try SessionData(decoding: bytes).encoded() + NetworkConfigPayload(decoding: bytes).encoded()
        + NetworkScanPayload(decoding: bytes).encoded() + NetworkControlPayload(decoding: bytes).encoded()
        + UserMappingPayload(decoding: bytes).encoded() + ChallengeResponsePayload(decoding: bytes).encoded()
        + ClaimPayload(decoding: bytes).encoded() + LocalDataPayload(decoding: bytes).encoded()
        + LocalControlMessage(decoding: bytes).encoded()
}

/// Has the interface of cryptography without its function.
enum ProbeSuite: CryptoSuite {
    static func sha256(_ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>) {
        for index in message.indices { digest[index % 32] ^= message[index] }
    }
    static func sha512(_ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>) {
        for index in message.indices { digest[index % 64] ^= message[index] }
    }
    static func x25519PublicKey(_ privateKey: KeyMaterial) throws(CryptoFailure) -> [UInt8] { privateKey.bytes }
    static func x25519SharedSecret(
        privateKey: KeyMaterial, publicKey: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { privateKey }
    static func aes256CounterMode(
        _ message: [UInt8], key: KeyMaterial, counterBlock: [UInt8], skipping offset: Int
    ) throws(CryptoFailure) -> [UInt8] { message }
    static func aes256GCMSeal(
        _ plaintext: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8] { plaintext }
    static func aes256GCMOpen(
        _ sealed: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8]? { sealed }
    static func power(
        _ base: KeyMaterial, _ exponent: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { base }
    static func multiply(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { left }
    static func add(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { left }
    static func subtract(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { left }
    static func multiplyAdd(
        _ factor: KeyMaterial, _ other: KeyMaterial, _ summand: KeyMaterial
    ) throws(CryptoFailure) -> KeyMaterial { summand }
}

private typealias ProbeDevice = DeviceCore<DeviceSecurity<ProbeSuite, ReproducibleRandom>, ProbeSigner>

/// Uses the whole board with concrete types: a request, a step of time, and its connection to the cloud.
public func probeDevice(
    _ request: [UInt8], configuration: DeviceConfiguration, radio: SimulatedRadio
) -> [DeviceEvent] {
    var device = ProbeDevice(
        configuration: configuration, radio: radio, security: .security0(Security0Device()), signer: ProbeSigner())
    _ = device.respond(to: request, on: .session, session: 1, now: 0)
    _ = device.respond(to: request, on: .config, session: 1, now: 1)
    _ = device.respond(to: request, on: .claim, session: 1, now: 1)
    _ = device.delayedAnswer(now: 2)
    device.advance(to: device.nextDue ?? 3)
    device.startUserMapping(userID: request, secretKey: request)
    _ = device.provision(WiFiCredentials(ssid: request, passphrase: request), now: 4)
    device.connectedToCloud()
    return device.takeEvents()
}

struct ProbeSigner: NodeCredential {
    func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8] { message }
    func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] { nodeID }
    func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool { certificate.count == nodeID.count }
}
