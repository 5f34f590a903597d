// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@Suite("Names in snake case")
struct SnakeCaseTests {
    @Test(
        "several capitals are one word",
        arguments: [
            ("name", "name"), ("wrongProofOfPossession", "wrong_proof_of_possession"), ("nodeID", "node_id"),
            ("baseURL", "base_url"), ("baseURLPath", "base_url_path"), ("ssidHex", "ssid_hex"),
            ("QRShow", "qr_show"), ("ID", "id"), ("NodeList", "node_list"), ("sha256Sum", "sha256_sum"),
            ("SHA256Sum", "sha256_sum"), ("node_id", "node_id"), ("", ""), ("größe", "größe"),
        ])
    func names(name: String, snakeCased: String) { #expect(name.snakeCased == snakeCased) }
}
