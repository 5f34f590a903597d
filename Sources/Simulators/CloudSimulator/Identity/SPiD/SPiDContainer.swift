// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// The envelope of every answer of `/api/2` (`SPP Container`, version 0.2).
enum SPiDContainer {
    /// Requests of a client in an hour. Beyond it is 420.
    static let limit: Int64 = 3600

    struct Budget: Sendable, Equatable {
        var reset: Int64 = 3600
        var remaining: Int64 = limit
    }

    static func success(
        _ data: JSONValue, object: String, status: Int = 200, path: String, budget: Budget, signedWith secret: String?
    ) -> Response {
        var members = head(object: object, code: status, path: path, budget: budget)
        members += [.init("meta", .null), .init("error", .null)]
        guard let secret else {
            return Response(status: status, .object(members + [.init("data", data)]))
        }
        // The data travels as text, and it is that text which is signed.
        let text = base64URL(data.serialized())
        members += [
            .init("data", .string(text)), .init("algorithm", "HMAC-SHA256"), .init("sig", .string(sign(text, secret))),
        ]
        return Response(status: status, .object(members))
    }

    static func failure(_ status: Int, _ description: String, path: String = "", budget: Budget = .init()) -> Response {
        let error: JSONValue = [
            "code": .integer(Int64(status)), "type": "ApiException", "description": .string(description),
        ]
        let members = head(object: "Error", code: status, path: path, budget: budget)
        return Response(
            status: status, .object(members + [.init("meta", .null), .init("error", error), .init("data", .null)]))
    }

    /// base64url of HMAC-SHA-256 over the data as it is sent.
    static func sign(_ text: String, _ secret: String) -> String {
        base64URL(OpenSSLHashes.hmacSHA256(Array(text.utf8), key: Array(secret.utf8)))
    }

    private static func head(object: String, code: Int, path: String, budget: Budget) -> [JSONValue.Member] {
        [
            .init("name", "SPP Container"), .init("version", "0.2"), .init("api", 2), .init("object", .string(object)),
            .init("type", "element"), .init("code", .integer(Int64(code))),
            .init(
                "request",
                [
                    "reset": .integer(budget.reset), "limit": .integer(limit), "remaining": .integer(budget.remaining),
                ]),
            // PHP's empty maps come out as lists.
            .init("debug", ["route": ["url": .string(path)], "params": ["options": [], "where": []]]),
        ]
    }
}
