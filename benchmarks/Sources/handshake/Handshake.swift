// SPDX-License-Identifier: Apache-2.0
import Glibc
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL

/// `handshake client COUNT` prints the CPU milliseconds of the client's part of each of COUNT Security 2 handshakes, one a line.
/// `handshake device` is the board for a foreign client: one request as hex a line in, the reply as hex out.
@main
enum Handshake {
    typealias Suite = OpenSSLCrypto
    static let username = Array("wifiprov".utf8)
    static let password = Array("abcd1234".utf8)

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "client", let count = arguments.last.flatMap({ Int($0) }) {
            for _ in 0..<count { print(try clientMilliseconds()) }
        } else if arguments.first == "device" {
            try serve()
        } else {
            fail("usage: handshake client COUNT | handshake device\n")
            exit(64)
        }
    }

    static func makeDevice() throws -> Security2Device<Suite, OpenSSLRandom> {
        var random = OpenSSLRandom()
        // The first byte is not 00, which a fault of real verifiers turns on.
        let salt = [0x5A] + random.bytes(15)
        let verifier = try Security2Verifier(username: username, password: password, salt: salt, with: Suite.self)
        return Security2Device(verifier: verifier, patchVersion: .countedNonce, random: random)
    }

    static func reply(_ step: DeviceHandshakeStep<Security2Cipher<Suite>>) -> [UInt8] {
        switch step {
        case .reply(let reply), .established(let reply, _): reply
        }
    }

    static func clientMilliseconds() throws -> Double {
        var device = try makeDevice()
        var random = OpenSSLRandom()
        var spent = 0.0
        func timed<Value>(_ body: () throws -> Value) rethrows -> Value {
            let before = cpuMilliseconds()
            defer { spent += cpuMilliseconds() - before }
            return try body()
        }
        var client = timed {
            Security2Client<Suite>(
                username: username, password: password, patchVersion: .countedNonce, random: &random)
        }
        var step = try timed { try client.start() }
        while case .send(let request) = step {
            let answer = reply(try device.respond(to: request))
            step = try timed { try client.receive(answer) }
        }
        _ = try timed { try client.finish() }
        return spent
    }

    static func serve() throws {
        var device = try makeDevice()
        while let line = readLine() {
            let bytes = stride(from: 0, to: line.utf8.count, by: 2).compactMap { offset in
                UInt8(line.dropFirst(offset).prefix(2), radix: 16)
            }
            let answer = reply(try device.respond(to: bytes))
            print(answer.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
            fflush(nil)
        }
    }

    static func cpuMilliseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}

private func fail(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
