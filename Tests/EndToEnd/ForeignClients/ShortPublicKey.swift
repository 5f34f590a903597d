// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Runs Espressif's client again after a fault of that client.
///
/// In 1 run of 256 its public key of Security 2 begins with zeros. It sends the key without them (its srp6a.py has no fixed length), and boards
/// refuse keys that are not 384 bytes long. The board is fine then, and people try again.
///
/// - Parameter attempt: one run; false where ``Journal/hasShortPublicKey()`` said that it was such a one.
func pastShortPublicKeys(_ attempt: () async throws -> Bool) async throws {
    // Three in a row are 1 in 16 million.
    for _ in 0..<3 where try await attempt() { return }
    Issue.record("the client's public key was too short three times")
}

extension Journal {
    /// Whether the board refused a first command of Security 2 that is shorter than one with a whole key: 406 bytes for `wifiprov`.
    func hasShortPublicKey() throws -> Bool {
        try ["prov-session", "esp_local_ctrl/session"].contains { endpoint in
            try entries(where: ["event": "request", "endpoint": .string(endpoint), "outcome": "refused"])
                .contains { (380..<406).contains($0["bytes"]?.integer ?? 0) }
        }
    }
}
