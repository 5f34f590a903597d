// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainHTTP

/// Signs requests as AWS requires (Signature Version 4: "Create a signed AWS API request" in the IAM user guide).
///
/// API Gateway gets the signature in headers, and AWS IoT's WebSocket gets it in the query. The rules are those of botocore, AWS's own
/// client, which the tests compare.
package struct AWSSigner: Sendable {
    private let role: AssumedRole
    private let region: String
    private let service: String
    private let hashes: any Hashes.Type

    /// The service of API Gateway.
    package static let gateway = "execute-api"
    /// The service of AWS IoT's WebSocket.
    package static let broker = "iotdevicegateway"

    /// - Parameters:
    ///   - region: such as `us-east-1`.
    ///   - service: ``gateway`` or ``broker``.
    package init(_ role: AssumedRole, region: String, service: String, hashes: any Hashes.Type) {
        (self.role, self.region, self.service, self.hashes) = (role, region, service, hashes)
    }

    /// Adds the headers of a signed request. The path and the query of the URL are percent-encoded already.
    package func sign(_ request: inout HTTPRequest, at time: UnixTime) {
        let url = AWSURL(request.url)
        let moment = CivilTime(time).basicText
        let token = role.sessionToken.revealString()
        let names = "host;x-amz-date;x-amz-security-token"
        let canonical = [
            request.method.rawValue, url.canonicalPath, url.canonicalQuery,
            "host:\(url.host)\nx-amz-date:\(moment)\nx-amz-security-token:\(token)\n", names,
            Hex.text(hashes.sha256(request.body)),
        ].joined(separator: "\n")
        let credential = "\(role.accessKey)/\(scope(moment))"
        let signature = signature(of: canonical, moment)
        request.headers += [
            HTTPHeader("X-Amz-Date", moment), HTTPHeader("X-Amz-Security-Token", token),
            HTTPHeader(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=\(credential), SignedHeaders=\(names), Signature=\(signature)"),
        ]
    }

    /// Returns the path and the signed query of a GET. For some minutes the query is as powerful as a password.
    ///
    /// The session token follows the signature, as AWS IoT requires for WebSockets ("MQTT over the WebSocket protocol", AWS IoT Core's
    /// developer guide).
    ///
    /// - Parameter seconds: how long the signature can open a connection. An open connection outlasts it.
    package func target(host: String, path: String, at time: UnixTime, goodFor seconds: Int) -> String {
        let moment = CivilTime(time).basicText
        let query =
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="
            + PercentEncoding.encoded("\(role.accessKey)/\(scope(moment))")
            + "&X-Amz-Date=\(moment)&X-Amz-Expires=\(seconds)&X-Amz-SignedHeaders=host"
        let canonical =
            "GET\n\(AWSURL.canonicalPath(path))\n\(query)\nhost:\(host)\n\nhost\n" + Hex.text(hashes.sha256([]))
        return
            "\(path)?\(query)&X-Amz-Signature=\(signature(of: canonical, moment))&X-Amz-Security-Token="
            + PercentEncoding.encoded(role.sessionToken.revealString())
    }

    private func scope(_ moment: String) -> String { "\(moment.prefix(8))/\(region)/\(service)/aws4_request" }

    private func signature(of canonical: String, _ moment: String) -> String {
        let text = "AWS4-HMAC-SHA256\n\(moment)\n\(scope(moment))\n" + Hex.text(hashes.sha256(Array(canonical.utf8)))
        var key = Array("AWS4".utf8) + role.secretKey.revealBytes()
        for part in [String(moment.prefix(8)), region, service, "aws4_request"] {
            key = hashes.hmacSHA256(Array(part.utf8), key: key)
        }
        return Hex.text(hashes.hmacSHA256(Array(text.utf8), key: key))
    }
}

/// The parts of a URL in the form in which AWS signs them.
struct AWSURL {
    /// The `Host` header: without the scheme's own port.
    let host: String
    let canonicalPath: String
    /// The pairs of the query, sorted by name and then by value.
    let canonicalQuery: String

    /// - Parameter url: an absolute URL whose path and query are percent-encoded.
    init(_ url: String) {
        let isSecure = url.lowercased().hasPrefix("https://")
        let rest = url.utf8.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        let tail = rest.dropFirst(authority.count).prefix { $0 != UInt8(ascii: "#") }
        let path = tail.prefix { $0 != UInt8(ascii: "?") }
        var host = String(decoding: authority, as: UTF8.self).lowercased()
        let ownPort = isSecure ? ":443" : ":80"
        if host.hasSuffix(ownPort) { host.removeLast(ownPort.count) }
        self.host = host
        canonicalPath = Self.canonicalPath(String(decoding: path, as: UTF8.self))
        canonicalQuery = Self.canonicalQuery(String(decoding: tail.dropFirst(path.count + 1), as: UTF8.self))
    }

    /// Returns the path as AWS signs it: without dot segments and empty segments, and percent-encoded once more.
    static func canonicalPath(_ path: String) -> String {
        var segments: [Substring] = []
        for segment in path.split(separator: "/") where segment != "." {
            if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
        }
        let end = path.hasSuffix("/") && !segments.isEmpty ? "/" : ""
        let normalized = "/" + segments.joined(separator: "/") + end
        let bytes = PercentEncoding.encoded(normalized.utf8) {
            $0.isASCIILetterOrDigit || "-._~/".utf8.contains($0) ? $0 : nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func canonicalQuery(_ query: String) -> String {
        guard !query.isEmpty else { return "" }
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: Array(pair[0].utf8), value: pair.count > 1 ? Array(pair[1].utf8) : [])
        }
        // The order is that of the pairs. Sorting `name=value` would put `a-b=` before `a=`.
        let sorted = pairs.sorted {
            $0.name == $1.name
                ? $0.value.lexicographicallyPrecedes($1.value) : $0.name.lexicographicallyPrecedes($1.name)
        }
        return sorted.map { String(decoding: $0.name + [UInt8(ascii: "=")] + $0.value, as: UTF8.self) }
            .joined(separator: "&")
    }
}
