// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A run of the official Python client (network_provisioning 1.2.4, `esp_prov`) against the C firmware of ESP-IDF, with the
/// randomness of both ends fixed. Every message in it was accepted by both.
struct Vector: Decodable, Sendable {
    struct Exchange: Decodable, Sendable {
        let req: String
        let resp: String
    }
    struct Call: Decodable, Sendable {
        let req_plain: String
        let req_wire: String
        let resp_wire: String
        let resp_plain: String
        let nonce_before: String?
    }

    let handshake: [Exchange]
    let rpc: [Call]

    let client_private: String?
    let client_public: String?
    let device_private: String?
    let device_random_iv: String?
    let pop: String?

    let username: String?
    let password: String?
    let salt: String?
    let verifier: String?
    let a: String?
    let b: String?
    let device_nonce: String?

    static let all: [String: Vector] = {
        let file = Bundle.module.url(forResource: "Fixtures/vectors", withExtension: "json")!
        return try! JSONDecoder().decode([String: Vector].self, from: Data(contentsOf: file))
    }()

    static func named(_ name: String) -> Vector { all[name]! }
}
