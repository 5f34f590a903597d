// SPDX-License-Identifier: Apache-2.0
import ExampleSettings
import RainKit

// Signs in once and keeps the session: the second start finds it, and needs no password.
let kit = try RainKitClient(
    state: setting("STATE"), deployment: Deployment(name: "example", base: setting("CLOUD")))
do {
    print("still signed in: \(try await kit.userID())")
} catch {
    guard error.code == .notSignedIn else { throw error }
    let user = try await kit.signIn(user: setting("USER"), password: setting("PASSWORD"))
    print("signed in as \(user.userName), user id \(user.userID)")
}
for node in try await kit.nodes() { print("node \(node.id)") }
