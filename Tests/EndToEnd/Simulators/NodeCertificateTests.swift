// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("Certificates of nodes, as openssl reads them")
struct NodeCertificateTests {
    @Test("openssl verifies the certificates, whose name is the node's")
    func certificates() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-a", "node-b:rsa"], in: folder)
            for node in ["node-a", "node-b"] {
                let options = try cloud.boardOptions(node: node)
                let (certificate, key) = (options[options.count - 3], options[options.count - 1])
                let verified = try await run(
                    "openssl",
                    ["verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", cloud.ca, certificate])
                #expect(verified.status == .exited(0), "\(verified.standardError)")
                let subject = try await run("openssl", ["x509", "-noout", "-subject", "-in", certificate])
                #expect(subject.standardOutput == "subject=CN = \(node)\n")
                let text = try await run("openssl", ["pkey", "-noout", "-text", "-in", key])
                let size = node == "node-b" ? "Private-Key: (2048 bit" : "Private-Key: (256 bit"
                #expect(text.standardOutput.hasPrefix(size))
                // The key is the certificate's.
                let own = try await run("openssl", ["pkey", "-pubout", "-in", key])
                let certified = try await run("openssl", ["x509", "-noout", "-pubkey", "-in", certificate])
                #expect(own.standardOutput == certified.standardOutput && !own.standardOutput.isEmpty)
            }
        }
    }
}
