// SPDX-License-Identifier: Apache-2.0
import ExampleSettings
import Foundation
import RainKit

let kit = try RainKitClient(
    state: setting("STATE"), deployment: Deployment(name: "example", base: setting("CLOUD")))
try await kit.signIn(user: setting("USER"), password: setting("PASSWORD"))

let path = setting("FILE")  // the absolute path of a file with boards
var defaults = BatchDefaults()
defaults.network = try WiFiNetwork(setting("NETWORK"), passphrase: setting("PASSPHRASE"))
let file = try BatchFile(Array(Data(contentsOf: URL(filePath: path))), defaults: defaults)

let ledger = try await kit.ledger()  // SQLite in STATE; several machines share a postgresql:// URL
let batch = try await kit.createBatch(file, path: path, in: ledger)
for try await event in kit.provision(batch: batch, in: ledger, file: file) {
    switch event {
    case .done(let board, let node): print("\(board.name): \(node)")
    case .failed(let board, let error): print("\(board.name): \(error.message)")
    case .counts(let counts): print("\(counts.done) of \(counts.total) are done")
    default: break
    }
}
await ledger.close()
