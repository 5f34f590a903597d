// SPDX-License-Identifier: Apache-2.0
import ExampleSettings
import RainKit

// Sends bytes of your own to an endpoint that your firmware has added, in the secure session, before the board leaves for its network.
let kit = RainKitClient(.inMemory())
let proof = ProofOfPossession(setting("PROOF"))
let board = try await kit.open(BoardAddress(setting("BOARD")), with: BoardCredentials(proof: proof))
do {
    print("the board says: \(try await board.identify().version)")
    try await board.secure()
    let answer = try await board.send(Array("broker=mqtt.example.com".utf8), to: "custom-data")
    print("custom-data answered: \(String(decoding: answer.prefix { $0 != 0 }, as: UTF8.self))")
} catch {
    await board.close()
    throw error
}
await board.close()
