// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainCore
import RainKit

/// A station of a batch whose boards answer at once, so that only the ledger takes time.
///
/// `ledger create PLACE COUNT` makes a batch with COUNT boards. `ledger work PLACE COUNT STATION AT_ONCE` works on the newest batch until
/// all of its boards are done.
@main
enum LedgerStation {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 3, let count = Int(arguments[2]) else { exit(64) }
        var configuration = RainKitConfiguration.inMemory()
        configuration.transports = [StandInBoards()]
        let kit = RainKitClient(configuration)
        let ledger = try await kit.ledger(at: arguments[1])
        var options = BatchOptions()
        options.mapsToUser = false
        let file = try file(count)
        switch (arguments[0], arguments.count) {
        case ("create", 3):
            _ = try await kit.createBatch(file, path: "/tmp/boards.csv", in: ledger, again: true, options: options)
        case ("work", 5):
            options.station = arguments[3]
            options.atOnce = Int(arguments[4]) ?? 50
            let run = kit.provision(batch: try await kit.batch(in: ledger), in: ledger, file: file, options: options)
            var done = 0
            for try await case .done in run { done += 1 }
            print(done)
        default: exit(64)
        }
        await ledger.close()
    }

    private static func file(_ count: Int) throws -> BatchFile {
        var defaults = BatchDefaults()
        defaults.transports = ["stand-in"]
        defaults.network = try WiFiNetwork("Bench", passphrase: "correct horse")
        let lines = ["address"] + (0..<count).map { "stand-in:board-\($0)" }
        return try BatchFile(Array(lines.joined(separator: "\n").utf8), defaults: defaults)
    }
}

/// A transport whose boards are there, whatever their names.
private struct StandInBoards: BoardTransport {
    let scheme = "stand-in"

    func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board {
        StandInBoard(peer: address.location ?? "")
    }
}

/// A board that joins each network at once.
private struct StandInBoard: Board {
    let peer: String

    func identify() -> BoardIdentity {
        BoardIdentity(association: .userMapping, nodeID: NodeID("node-of-\(peer)"), version: "netprov-v1.2")
    }

    func secure() {}
    func scan() -> [AccessPoint] { [] }
    func associate(_ request: AssociationRequest) -> AssociationReply { AssociationReply(nodeID: NodeID(peer)) }
    func join(_ network: WiFiNetwork) {}
    func watch(report: @Sendable (WiFiProgress) async -> Void) -> JoinedNetwork {
        JoinedNetwork(address: "192.168.1.20", ssid: SSID("Bench"))
    }
    func reset() {}
    func close() {}
}
