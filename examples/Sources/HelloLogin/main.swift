// SPDX-License-Identifier: Apache-2.0
import ExampleSettings
import RainKit

// Signs in once and keeps the session: the second start finds it, and needs no password.
let kit = try RainKitClient(
    state: setting("STATE"), deployment: Deployment(name: "example", base: setting("CLOUD")))
let user = try await kit.signInIfNeeded(user: setting("USER")) {
    print("signing in")
    return setting("PASSWORD")
}
print("signed in, user id \(user)")
for node in try await kit.nodes() { print("node \(node.id)") }
