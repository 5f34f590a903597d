// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainCrypto
import RainCryptoOpenSSL
import TestSupport
import Testing

/// `openssl` on the command line judges what we sign, and we what it signs.
@Suite("Signatures")
struct SignatureTests {
    static let cases: [(PrivateKey.Kind, SignatureAlgorithm, [String])] = [
        (.p256, .ecdsa, []),
        (.rsa2048, .rsaPKCS1, []),
        (.rsa2048, .rsaPSS, ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"]),
        (.rsa2048, .rsaPSSFixedSalt, ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"]),
    ]

    @Test("openssl accepts what we sign, and we what it signs", arguments: cases)
    func openssl(_ kind: PrivateKey.Kind, _ algorithm: SignatureAlgorithm, _ options: [String]) async throws {
        let key = try PrivateKey(generating: kind)
        let message = "challenge-0123"
        try await withTemporaryFolder { folder in
            try folder.write(String(decoding: key.pem, as: UTF8.self), to: "key.pem")
            try folder.write(String(decoding: try key.publicKey.pem, as: UTF8.self), to: "public.pem")
            try folder.write(message, to: "message")

            let ours = try key.sign(Array(message.utf8), algorithm: algorithm)
            try Data(ours).write(to: URL(fileURLWithPath: folder.file("ours")))
            let verdict = try await run(
                "openssl",
                ["dgst", "-sha256"] + options + [
                    "-verify", folder.file("public.pem"), "-signature", folder.file("ours"), folder.file("message"),
                ])
            #expect(verdict.standardOutput == "Verified OK\n")

            try await run(
                "openssl",
                ["dgst", "-sha256"] + options + [
                    "-sign", folder.file("key.pem"), "-out", folder.file("theirs"), folder.file("message"),
                ])
            let theirs = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("theirs"))))
            let verifier = try PublicKey(pem: key.publicKey.pem).verifier(algorithm)
            #expect(verifier.isValid(theirs, for: Array(message.utf8)))
            #expect(!verifier.isValid(theirs, for: Array("another".utf8)))
        }
    }

    @Test("a certificate's key is read, and one that signs nothing is not")
    func certificate() async throws {
        let request = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=node-1",
            "-days", "1", "-keyout",
        ]
        try await withTemporaryFolder { folder in
            let made = try await run("openssl", request + [folder.file("key.pem"), "-out", folder.file("cert.pem")])
            #expect(made.status == .exited(0))
            let key = try PrivateKey(pem: Array(folder.read("key.pem").utf8))
            let certified = try PublicKey(pem: Array(folder.read("cert.pem").utf8))
            #expect(certified.isValid(try key.sign([7], algorithm: .ecdsa), for: [7], algorithm: .ecdsa))
            #expect(try certified.pem == key.publicKey.pem)
        }
    }
}
