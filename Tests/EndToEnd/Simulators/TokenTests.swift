// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct TokenTests {
    private static func issuer() throws -> (TokenIssuer, PrivateKey) {
        let key = try PrivateKey(generating: .p256)
        return (
            TokenIssuer(signer: try JSONWebTokenSigner(key: key), lifetime: .seconds(60), issuer: "https://x.invalid"),
            key
        )
    }

    private static func session(of user: User) -> Session { Session(id: makeUUID(), userID: user.id, startedAt: 0) }

    @Test("openssl accepts the signature of a token")
    func opensslVerifies() async throws {
        let (issuer, key) = try Self.issuer()
        let user = User(id: makeUUID(), userName: "a@b.c", password: StoredPassword("x"))
        let token = try issuer.issue(for: user, in: Self.session(of: user), at: 0).access
        let parts = token.split(separator: ".")
        let signature = try #require(Base64.urlDecoded(parts[2].utf8))
        #expect(signature.count == 64)
        // openssl wants DER: two positive integers in a sequence.
        let integers = [signature.prefix(32), signature.suffix(32)].map { number -> [UInt8] in
            var digits = Array(number.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        let der = [0x30, UInt8(integers.joined().count)] + integers.joined()
        try await withTemporaryFolder { folder in
            try folder.write(String(decoding: try key.publicKey.pem, as: UTF8.self), to: "key.pem")
            try folder.write("\(parts[0]).\(parts[1])", to: "signed")
            let hex = hexString(Array(der))
            let script = "python3 -c 'import sys; open(\"sig\",\"wb\").write(bytes.fromhex(\"\(hex)\"))'"
            try await run("sh", ["-c", script], directory: folder.path)
            let checked = try await run(
                "openssl", ["dgst", "-sha256", "-verify", "key.pem", "-signature", "sig", "signed"],
                directory: folder.path)
            #expect(checked.standardOutput == "Verified OK\n")
        }
    }
}
