// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL

/// The `Authorization` of a request that is signed with a WSKey (HMAC, version 2).
struct WSKeyHeader: Equatable {
    static let scheme = "http://www.worldcat.org/wskey/v2/hmac/v1"
    /// The maximum difference between a timestamp and our clock. OCLC does not publish its limit.
    fileprivate static let window: Int64 = 300

    fileprivate var key: String
    /// Seconds since 1970, as they were sent.
    fileprivate var timestamp: String
    fileprivate var nonce: String
    fileprivate var signature: String
    /// The person of the request, if any.
    var principal: (id: String, namespace: String)?

    fileprivate init?(_ header: String) {
        guard header.hasPrefix(Self.scheme), header.utf8.count <= 4096 else { return nil }
        let parameters = Self.parameters(header.dropFirst(Self.scheme.count))
        guard let key = parameters["clientid"], let timestamp = parameters["timestamp"],
            let nonce = parameters["nonce"],
            let signature = parameters["signature"]
        else { return nil }
        (self.key, self.timestamp, self.nonce, self.signature) = (key, timestamp, nonce, signature)
        if let id = parameters["principalid"], let namespace = parameters["principalidns"] {
            principal = (id, namespace)
        }
    }

    static func == (left: Self, right: Self) -> Bool {
        left.key == right.key && left.timestamp == right.timestamp && left.nonce == right.nonce
            && left.signature == right.signature && left.principal?.id == right.principal?.id
            && left.principal?.namespace == right.principal?.namespace
    }

    /// Reads `name="value"` pairs, with commas and perhaps spaces between them. Names become lower case, because libraries spell them
    /// differently.
    static func parameters(_ text: some StringProtocol) -> [String: String] {
        var parameters: [String: String] = [:]
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let value = pair[1].trimmingSpaces()
            guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { continue }
            parameters[pair[0].trimmingSpaces().lowercased()] = String(value.dropFirst().dropLast())
        }
        return parameters
    }

    /// Returns the signature. The signed text does not have the request's own host, port and path, but always those of
    /// `www.oclc.org:443/wskey`.
    static func signature(
        key: String, timestamp: String, nonce: String, method: String, query: [Request.Field], secret: String
    ) -> String {
        let lines = [key, timestamp, nonce, "", method, "www.oclc.org", "443", "/wskey"]
        let pairs = query.map { (PercentEncoding.encoded($0.name), PercentEncoding.encoded($0.value)) }
            .sorted {
                Array($0.0.utf8).lexicographicallyPrecedes(Array($1.0.utf8))
                    || $0.0 == $1.0 && Array($0.1.utf8).lexicographicallyPrecedes(Array($1.1.utf8))
            }
            .map { "\($0)=\($1)" }
        let text = (lines + pairs).map { $0 + "\n" }.joined()
        return Base64.text(OpenSSLHashes.hmacSHA256(Array(text.utf8), key: Array(secret.utf8)))
    }
}

extension OCLCService {
    /// Returns the client that signed the request. The key must be known, the signature right, the time current and the nonce new.
    mutating func signer(_ call: inout IdentityCall) throws(OCLCFailure) -> WSKeyHeader {
        do throws(OCLCFailure) {
            let header = try check(&call)
            call.note(.signature, "accepted")
            return header
        } catch {
            call.note(.signature, "refused") {
                $0.reason = error.message.hasPrefix("WSKey") ? "unknown key" : error.message
            }
            throw error
        }
    }

    private mutating func check(_ call: inout IdentityCall) throws(OCLCFailure) -> WSKeyHeader {
        guard let header = call.request.header("Authorization").flatMap({ WSKeyHeader($0) }) else {
            throw OCLCFailure(401, "The Authorization header is not understood")
        }
        guard header.key == Self.key else { throw OCLCFailure(401, "WSKey '\(header.key)' is invalid") }
        call.client = Self.key
        let expected = WSKeyHeader.signature(
            key: header.key, timestamp: header.timestamp, nonce: header.nonce, method: call.method,
            query: call.request.query, secret: Self.secret)
        guard equalInConstantTime(Array(expected.utf8), Array(header.signature.utf8)) else {
            throw OCLCFailure(401, "The signature does not match")
        }
        let now = call.now / 1000
        guard let time = Int64(header.timestamp), (now - WSKeyHeader.window...now + WSKeyHeader.window).contains(time)
        else {
            throw OCLCFailure(401, "The timestamp is too old or too new")
        }
        guard nonces.value(header.nonce, at: call.now) == nil else {
            throw OCLCFailure(401, "The nonce was used before")
        }
        nonces.insert(true, key: header.nonce, until: (time + WSKeyHeader.window + 1) * 1000, at: call.now)
        return header
    }
}
