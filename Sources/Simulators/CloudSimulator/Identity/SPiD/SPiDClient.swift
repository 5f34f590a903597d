// SPDX-License-Identifier: Apache-2.0

/// An application that is registered with SPiD.
struct SPiDClient: Sendable {
    var registration: OAuthClient
    var name: String
    /// Codes for another client are given only if it belongs to the same merchant.
    var merchant: Int64
    /// Signs API responses, and the client's assertions. It is not the client secret.
    var signSecret: String?
    /// Where codes for this client are redeemed with, when it did not ask for them itself.
    var defaultRedirect: String?
    /// Whether SPiD signs what it answers this client.
    var wantsSignedResponses = false
    /// The application's ids at Facebook and Google.
    var thirdPartyIDs: [String] = []

    var id: String { registration.id }

    static let known: [SPiDClient] = [
        SPiDClient(
            registration: client(
                "app-1", ["spidmobile-app-1://login", "spidmobile-app-1://logout", "http://127.0.0.1/callback"]),
            name: "The app", merchant: 47000, signSecret: "s1gn", thirdPartyIDs: ["app1", "no.example.app"]),
        SPiDClient(
            registration: client("backend-1", ["http://127.0.0.1/backend"]), name: "The app's backend", merchant: 47000,
            signSecret: "s1gn", defaultRedirect: "http://127.0.0.1/backend"),
        SPiDClient(
            registration: client("signed-1", ["http://127.0.0.1/callback"]), name: "An app with signed responses",
            merchant: 47000, signSecret: "s1gn", wantsSignedResponses: true),
        SPiDClient(
            registration: client("other-1", ["http://127.0.0.1/callback", "http://127.0.0.1/other"]),
            name: "Another house's app", merchant: 48000, signSecret: "0ther", defaultRedirect: "http://127.0.0.1/other"
        ),
    ]

    private static func client(_ id: String, _ redirects: [String]) -> OAuthClient {
        OAuthClient(id: id, secret: "\(id)-secret", redirects: redirects.compactMap { RegisteredRedirect($0) })
    }
}
