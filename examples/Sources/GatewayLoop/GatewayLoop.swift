// SPDX-License-Identifier: Apache-2.0
import ExampleSettings
import RainKit

/// A gateway: keeps its session, and provisions every board that appears, several at once.
@main
struct GatewayLoop {
    let kit: RainKitClient
    let network: WiFiNetwork
    let proof: ProofOfPossession
    /// The transports that it searches.
    let schemes: Set<String>

    static func main() async throws {
        let deployment = try Deployment(name: "example", base: setting("CLOUD"))
        let gateway = GatewayLoop(
            kit: try RainKitClient(state: setting("STATE"), deployment: deployment),
            network: try WiFiNetwork(setting("NETWORK"), passphrase: setting("PASSPHRASE")),
            proof: ProofOfPossession(setting("PROOF")), schemes: [optionalSetting("TRANSPORT") ?? "ble"])
        try await gateway.signInOnce()
        // A gateway runs for ever; a test stops it after some boards.
        try await gateway.run(until: optionalSetting("BOARDS").flatMap { Int($0) } ?? .max)
        await gateway.kit.close()
    }

    /// Signs in with the password the first time. Later the session in the folder is renewed when necessary.
    func signInOnce() async throws {
        try await kit.signInIfNeeded(user: setting("USER")) { setting("PASSWORD") }
    }

    func run(until count: Int) async throws {
        var done: Set<BoardAddress> = []
        while done.count < count {
            let finished = try await withThrowingTaskGroup(of: BoardAddress?.self) { group in
                var started = done
                do {
                    for try await board in kit.boards(BoardSearch(for: .seconds(10)), over: schemes)
                    where started.insert(board.address).inserted {
                        group.addTask { try await provision(board) }
                        if started.count == count { break }
                    }
                } catch let error as RainKitError where error.board != nil {
                    // For example, Bluetooth is off. Boards that were found continue, and the next search may find more.
                    print("search: \(error)")
                    try await Task.sleep(for: .seconds(1))
                }
                return try await group.reduce(into: Set<BoardAddress>()) { $0.formUnion([$1].compactMap(\.self)) }
            }
            done.formUnion(finished)
        }
    }

    /// Provisions a board and returns its address; nil if it failed and will be tried again.
    func provision(_ board: FoundBoard) async throws -> BoardAddress? {
        do {
            let node = try await kit.provision(board.address, proof: proof, network: network)
            print("\(board.name ?? "\(board.address)"): \(node)")
            return board.address
        } catch let error as RainKitError {
            // A board's failure does not stop the gateway; the end of the session does.
            print("\(board.name ?? "\(board.address)"): \(error)")
            if error.reason == "expired" { throw error }
            return nil
        }
    }
}
