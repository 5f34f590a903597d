// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCryptoOpenSSL
import TestSupport
import Testing

/// Both ends of each handshake, in each of its states, and each cipher take mutated input.
@Suite("Handshakes and ciphers, fuzzed")
struct HandshakeFuzzTests {
    @Test("a device of Security 0")
    func device0() async throws {
        try await withOwnProcessInSoak { try fuzzDevice(Security0Device(), Security0Client(), isOpen: true) }
    }

    @Test("a device of Security 1")
    func device1() async throws {
        try await withOwnProcessInSoak { try fuzzDevice(oneDevice(), oneClient()) }
    }

    @Test("a device of Security 2")
    func device2() async throws {
        try await withOwnProcessInSoak {
            try fuzzDevice(twoDevice(), twoClient())
        }
    }

    @Test("a client of Security 0")
    func client0() async throws { try await withOwnProcessInSoak { try fuzzClient("sec0") } }

    @Test("a client of Security 1")
    func client1() async throws { try await withOwnProcessInSoak { try fuzzClient("sec1_pop") } }

    @Test("a client of Security 2")
    func client2() async throws { try await withOwnProcessInSoak { try fuzzClient("sec2_patch1") } }

    @Test("the ciphers", arguments: ["sec0", "sec1_pop", "sec2_patch0", "sec2_patch1"])
    func ciphers(_ name: String) async throws {
        try await withOwnProcessInSoak(name) { try fuzzCipher(name) }
    }
}

// The suite's methods have the same names as the makers of the parties.
private func oneClient() -> Client1 { client1() }
private func twoClient() -> Client2 { client2() }
private func oneDevice() -> Device1 { device1() }
private func twoDevice() throws -> Device2 { device2(try verifier2()) }

/// In the same order in every process: a dictionary's own differs, and the same seed would not give the same inputs.
private var everyVector: [Vector] { Vector.all.sorted { $0.key < $1.key }.map(\.value) }

/// The device meets the input fresh, and again after a genuine first command.
///
/// - Parameter isOpen: lets everybody in, as Security 0 does.
private func fuzzDevice(
    _ fresh: some DeviceSecurityScheme, _ honest: some SecurityScheme, isOpen: Bool = false
) throws {
    var (client, opened) = (honest, fresh)
    let command0 = try client.start().request
    let proof = try client.receive(opened.respond(to: command0).reply).request
    // The other schemes' messages are there to be spliced in; this scheme's should be met most often.
    let others = everyVector.flatMap { $0.handshake.map { hex($0.req) } }
    let examples = others + Array(repeating: [command0, proof], count: others.count).flatMap(\.self)
    let (waiting, genuine) = (opened, try? SessionData(decoding: proof).payload)
    var entries = 0
    let report = fuzz("device", from: examples) { input in
        var (first, second) = (fresh, waiting)
        _ = try? first.respond(to: input)
        guard case .established? = try? second.respond(to: input) else { return }
        entries += 1
        // Whoever gets in with another proof than the genuine one has broken the scheme.
        if !isOpen { #expect((try? SessionData(decoding: input))?.payload == genuine) }
    }
    #expect(entries > 0)
    #expect(report.failures == [], "\(report.complaint)")
}

/// The client meets the input as the answer to each of its commands.
private func fuzzClient(_ name: String) throws {
    let vector = Vector.named(name)
    var client = try vector.client(name)
    var stages = [client]
    _ = try client.start()
    stages.append(client)
    for exchange in vector.handshake.dropLast() {
        _ = try client.receive(hex(exchange.resp))
        stages.append(client)
    }
    let everyStage = stages
    let others = everyVector.flatMap { $0.handshake.map { hex($0.resp) } }
    let own = vector.handshake.map { hex($0.resp) }
    let examples = others + Array(repeating: own, count: others.count).flatMap(\.self)
    let report = fuzz("client \(name)", from: examples) { input in
        for var stage in everyStage {
            _ = try? stage.receive(input)
            _ = try? stage.finish()
        }
    }
    #expect(report.failures == [], "\(report.complaint)")
}

private func fuzzCipher(_ name: String) throws {
    let vector = Vector.named(name)
    var client = try vector.client(name)
    _ = try client.start()
    for exchange in vector.handshake { _ = try client.receive(hex(exchange.resp)) }
    let established = try client.finish()
    let report = fuzz("cipher \(name)", from: vector.rpc.map { hex($0.req_wire) }) { input in
        var cipher = established
        _ = try? cipher.decrypt(input)
        _ = try? cipher.encrypt(input)
    }
    #expect(report.failures == [], "\(report.complaint)")
}
