// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
@testable import RainKit
import Testing

@testable import rainctl

@Suite("The end of the refresh token in account status")
struct RefreshEndTests {
    static let ends: [(seconds: Int64?, text: String?)] = [
        (604_799, "refresh token: valid for 6 days"), (0, "refresh token: valid for 0 s"),
        (-1, "refresh token: expired 1 s ago"),
        (nil, nil),
    ]

    @Test("is shown where the provider says it, also after it is over", arguments: ends)
    func shown(seconds: Int64?, text: String?) throws {
        let result = SessionResult(
            profile: "oclc", baseURL: "", provider: "oclc", userName: "p", userID: "p", store: "file", account: nil,
            storePath: nil, receivedAt: "R", expiresAt: "E", expiresIn: 1199, expired: false, renewable: true,
            refreshExpiresAt: seconds.map { _ in "F" }, refreshExpiresIn: seconds)
        let lines = result.text.split(separator: "\n").filter { $0.hasPrefix("refresh token") }.map(String.init)
        #expect(lines == [text].compactMap(\.self))
        let json = try JSONValue(parsing: Array(JSONText.line(result).utf8))
        #expect(json["refresh_expires_in"]?.integer == seconds && (json["refresh_expires_at"] == nil) == (text == nil))
    }
}
