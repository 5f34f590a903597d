// SPDX-License-Identifier: Apache-2.0
import Testing
import RainCore

@Suite("Secret")
struct SecretTests {
    private let secret = Secret("hunter2-planted")

    @Test("a secret does not appear when it is printed, interpolated, dumped or reflected")
    func cannotBePrinted() {
        var dumped = ""
        dump(secret, to: &dumped)
        var nested = ""
        dump([secret], to: &nested)
        let holders = ["\(secret)", String(describing: secret), String(reflecting: secret), dumped, nested]
        for text in holders { #expect(!text.contains("hunter2")) }
    }

    @Test("its bytes are lent only inside reveal")
    func reveals() {
        #expect(secret.reveal { Array($0) } == Array("hunter2-planted".utf8))
        #expect(secret.revealString() == "hunter2-planted")
    }

    @Test(
        "equality looks at every byte",
        arguments: ["", "hunter2", "hunter2-plantee", "xunter2-planted", "hunter2-planted-"])
    func differs(other: String) {
        #expect(secret != Secret(other))
        #expect(secret == Secret("hunter2-planted"))
    }

    @Test("a mapping secret is a version 4 UUID in lower case")
    func mappingSecret() {
        let made = MappingSecret(randomBytes: [UInt8](repeating: 0xFF, count: 16))
        #expect(made.secret.revealString() == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    }
}
