// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL

/// The signature of a request (AWS Signature Version 4), in its headers or its query, as AWS checks it.
struct AWSSignatureCheck {
    let accessKey: String
    let region: String
    private let sessionToken: String?
    /// Date, region, service and `aws4_request`.
    private let scope: [String]
    private let date: String
    private let signature: String
    /// How long the signature is valid, in seconds.
    private let seconds: Int64
    /// The texts that may have been signed. AWS IoT accepts a query with and without the session token.
    private let canonical: [String]

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// Reads a signed query. Returns nil for a request without such a signature.
    init?(query request: Request, service: String) {
        func value(_ name: String) -> String? {
            let found = request.query.filter { $0.name == name }
            return found.count == 1 ? found[0].value : nil
        }
        guard value("X-Amz-Algorithm") == Self.algorithm, value("X-Amz-SignedHeaders") == "host",
            let credential = value("X-Amz-Credential"), let date = value("X-Amz-Date"),
            let signature = value("X-Amz-Signature"), let seconds = Int64(value("X-Amz-Expires") ?? "300"),
            (1...86_400).contains(seconds), let host = request.header("Host"),
            let (key, scope) = Self.scope(credential, date: date, service: service)
        else { return nil }
        (accessKey, self.scope, region) = (key, scope, scope[1])
        sessionToken = value("X-Amz-Security-Token")
        let signed = request.query.filter { $0.name != "X-Amz-Signature" }
        canonical = [signed.filter { $0.name != "X-Amz-Security-Token" }, signed].map { fields in
            Self.canonical(request, fields, headers: "host:\(host)\n", names: "host", body: [])
        }
        (self.date, self.signature, self.seconds) = (date, signature, seconds)
    }

    /// Reads signed headers. Returns nil for a request without such a signature.
    init?(headers request: Request, service: String) {
        guard let header = request.header("Authorization"), header.hasPrefix(Self.algorithm + " ") else { return nil }
        var parts: [String: String] = [:]
        for part in header.dropFirst(Self.algorithm.count).split(separator: ",") {
            let pair = part.trimmingSpaces().split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { parts[pair[0]] = pair[1] }
        }
        guard let credential = parts["Credential"], let names = parts["SignedHeaders"],
            let signature = parts["Signature"], let date = request.header("X-Amz-Date"),
            let (key, scope) = Self.scope(credential, date: date, service: service)
        else { return nil }
        let list = names.split(separator: ";").map(String.init)
        // AWS requires these; the others are the client's choice.
        guard ["host", "x-amz-date", "x-amz-security-token"].allSatisfy(list.contains) else { return nil }
        var headers = ""
        for name in list {
            let values = request.headers.filter { $0.name.lowercased() == name }.map { field in
                field.value.split(separator: " ").joined(separator: " ")
            }
            guard !values.isEmpty else { return nil }
            headers += "\(name):\(values.joined(separator: ","))\n"
        }
        (accessKey, self.scope, region) = (key, scope, scope[1])
        sessionToken = request.header("X-Amz-Security-Token")
        canonical = [Self.canonical(request, request.query, headers: headers, names: names, body: request.body)]
        (self.date, self.signature, seconds) = (date, signature, 300)
    }

    /// - Parameter now: milliseconds since 1970. AWS accepts signatures up to five minutes ahead.
    func isValid(secretKey: String, sessionToken: String, at now: Int64) -> Bool {
        guard self.sessionToken == sessionToken,
            let signed = CivilTime(basic: date).map({ Int64($0.secondsSince1970) * 1000 }),
            (signed - 300_000...signed + seconds * 1000).contains(now)
        else { return false }
        let key = scope.reduce(Array("AWS4\(secretKey)".utf8)) { OpenSSLHashes.hmacSHA256(Array($1.utf8), key: $0) }
        return canonical.contains { canonical in
            let text =
                "\(Self.algorithm)\n\(date)\n\(scope.joined(separator: "/"))\n"
                + Hex.text(OpenSSLHashes.sha256(Array(canonical.utf8)))
            return Hex.text(OpenSSLHashes.hmacSHA256(Array(text.utf8), key: key)) == signature
        }
    }

    private static func scope(
        _ credential: String, date: String, service: String
    ) -> (key: String, scope: [String])? {
        let parts = credential.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[1] == date.prefix(8), parts[3...] == [service, "aws4_request"] else { return nil }
        return (parts[0], Array(parts[1...]))
    }

    private static func canonical(
        _ request: Request, _ fields: [Request.Field], headers: String, names: String, body: [UInt8]
    ) -> String {
        let pairs = fields.map { (PercentEncoding.encoded($0.name), PercentEncoding.encoded($0.value)) }.sorted {
            $0.0 == $1.0
                ? $0.1.utf8.lexicographicallyPrecedes($1.1.utf8) : $0.0.utf8.lexicographicallyPrecedes($1.0.utf8)
        }
        let query = pairs.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        // Each segment is encoded once more, except at services that are not here.
        let path = PercentEncoding.encoded(request.path.utf8) {
            $0.isASCIILetterOrDigit || "-._~/".utf8.contains($0) ? $0 : nil
        }
        return [
            request.method, String(decoding: path, as: UTF8.self), query, headers, names,
            Hex.text(OpenSSLHashes.sha256(body)),
        ].joined(separator: "\n")
    }
}
