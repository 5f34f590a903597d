// SPDX-License-Identifier: Apache-2.0

/// A server's certificate, and the authority that issues it: `server.pem`, `server.key` and `ca.pem` in a folder.
public struct ServerCertificate: Sendable {
    private let names: String
    private let days: Int

    /// - Parameters:
    ///   - names: as openssl writes alternative names: `IP:127.0.0.1`, `DNS:example.org`.
    ///   - days: until it expires; below zero it has.
    public init(names: String, days: Int = 2) {
        self.names = names
        self.days = days
    }

    public func issue(in folder: TemporaryFolder) async throws {
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try await openssl(
            ["req", "-x509"] + key + ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test CA", "-days", "2"],
            folder)
        try await openssl(
            ["req"] + key
                + [
                    "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=test server", "-addext",
                    "subjectAltName=\(names)",
                ], folder)
        try await openssl(
            [
                "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-copy_extensions", "copy", "-days", "\(days)", "-out", "server.pem",
            ], folder)
    }

    private func openssl(_ arguments: [String], _ folder: TemporaryFolder) async throws {
        let finished = try await run("openssl", arguments, directory: folder.path)
        guard finished.status == .exited(0) else { throw ProcessError(finished.standardError) }
    }
}
