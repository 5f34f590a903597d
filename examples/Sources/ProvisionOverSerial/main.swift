// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainKit

func setting(_ name: String) -> String { ProcessInfo.processInfo.environment["EXAMPLE_\(name)"] ?? "" }

let cloud = try Deployment(name: "example", base: setting("CLOUD"))
let kit = try RainKitClient(state: setting("STATE"), deployment: cloud)
try await kit.signIn(user: setting("USER"), password: setting("PASSWORD"))
let home = try WiFiNetwork(setting("NETWORK"), passphrase: setting("PASSPHRASE"))
let board = try BoardAddress(setting("BOARD"))  // serial:/dev/ttyUSB0, ble:PROV_a1b2c3, softap:
let proof = ProofOfPossession(setting("PROOF"))
let node = try await kit.provision(board, proof: proof, network: home) { print($0) }
print("done: \(node)")
