// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import TestSupport
import Testing

@testable import firmware_sim

/// What a board does to be claimed, judged by the openssl command.
@Suite("The node's key")
struct NodeKeyTests {
    private let node = "4kXyQ0aZ9bC8dE7fG6hI5j"

    /// Runs openssl, which must succeed.
    @discardableResult
    private func openssl(_ arguments: String...) async throws -> String {
        let finished = try await run("openssl", arguments)
        try #require(finished.status == .exited(0), "\(arguments): \(finished.standardError)")
        return finished.standardOutput + finished.standardError
    }

    @Test("its request for a certificate is one that openssl accepts: P-256, SHA-256, and the node id as its name")
    func request() async throws {
        try await withTemporaryFolder { folder in
            let request = try NodeKey().certificateRequest(for: Array(node.utf8))
            try folder.write(String(decoding: request, as: UTF8.self), to: "csr")
            #expect(try await openssl("req", "-in", folder.file("csr"), "-noout", "-verify").contains("verify OK"))
            let text = try await openssl("req", "-in", folder.file("csr"), "-noout", "-text", "-subject")
            #expect(text.contains("CN = \(node)") && text.contains("prime256v1"))
            #expect(text.contains("ecdsa-with-SHA256"))
            // It goes in pieces of 200 bytes into a buffer of 3072.
            #expect(request.count < 1024)
        }
    }

    @Test("a certificate by openssl is accepted if key and name are the board's, and no other")
    func certificate() async throws {
        try await withTemporaryFolder { folder in
            let (key, stranger) = (try NodeKey(), try NodeKey())
            try folder.write(
                String(decoding: try key.certificateRequest(for: Array(node.utf8)), as: UTF8.self), to: "csr")
            try await openssl(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                folder.file("ca.key"), "-out", folder.file("ca.pem"), "-subj", "/CN=CA", "-days", "2")
            try await openssl(
                "x509", "-req", "-in", folder.file("csr"), "-CA", folder.file("ca.pem"), "-CAkey",
                folder.file("ca.key"),
                "-CAcreateserial", "-out", folder.file("crt"), "-days", "2")
            let certificate = Array(try readFile(folder.file("crt")).utf8)
            #expect(key.accepts(certificate: certificate, for: Array(node.utf8)))
            #expect(!key.accepts(certificate: certificate, for: Array("another".utf8)))
            #expect(!stranger.accepts(certificate: certificate, for: Array(node.utf8)))
            for cut in [0, 1, 27, certificate.count / 2, certificate.count - 30] {
                #expect(!key.accepts(certificate: Array(certificate.prefix(cut)), for: Array(node.utf8)))
            }
        }
    }
}
