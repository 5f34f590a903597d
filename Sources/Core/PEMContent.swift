// SPDX-License-Identifier: Apache-2.0

/// The kinds of blocks in a PEM file (RFC 7468), for messages about a file that has another kind than the expected one.
package struct PEMContent: Sendable, Equatable {
    /// The kinds of files that programs are given.
    package enum Kind: Sendable, Equatable { case certificate, privateKey }

    /// The labels of the blocks in their order, such as `CERTIFICATE`.
    package let labels: [String]
    private let isEmpty: Bool

    /// Reads the lines `-----BEGIN LABEL-----`. Text around the blocks, and their content, do not matter.
    package init(_ bytes: some Collection<UInt8>) {
        let mark = "-----BEGIN "
        labels = bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).compactMap { line in
            guard line.starts(with: mark.utf8) else { return nil }
            let text = String(decoding: line.prefix(100), as: UTF8.self).dropFirst(mark.count)
            return text.firstRange(of: "-----").map { String(text[..<$0.lowerBound]) }
        }
        isEmpty = bytes.isEmpty
    }

    /// Whether one of the blocks is of this kind.
    package func has(_ kind: Kind) -> Bool {
        labels.contains {
            switch kind {
            case .certificate: ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains($0)
            case .privateKey: $0.hasSuffix("PRIVATE KEY")
            }
        }
    }

    /// Returns what the file contains instead of that kind, such as "contains a private key (-----BEGIN PRIVATE KEY-----), but no
    /// certificate"; nil if it has a block of that kind.
    package func problem(expecting kind: Kind) -> String? {
        guard !has(kind) else { return nil }
        let wanted = kind == .certificate ? "certificate" : "private key"
        guard !isEmpty else { return "is empty" }
        guard let label = labels.first else {
            return "is not in PEM form: it has no line that begins with -----BEGIN"
        }
        return "contains \(Self.name(label)) (-----BEGIN \(label.onOneLine)-----), but no \(wanted)"
    }

    private static func name(_ label: String) -> String {
        switch label {
        case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "a certificate request"
        case "X509 CRL": "a list of revoked certificates"
        case _ where label.hasSuffix("CERTIFICATE"): "a certificate"
        case _ where label.hasSuffix("PRIVATE KEY"): "a private key"
        case _ where label.hasSuffix("PUBLIC KEY"): "a public key"
        default: "something else"
        }
    }
}
