// SPDX-License-Identifier: Apache-2.0
import RainDBus
import RainKit
import TestSupport

/// A simulated cloud, and a client that is signed in there.
struct GatewayBench {
    let folder: TemporaryFolder
    let cloud: SimulatedCloud
    let kit: RainKitClient

    init(nodes: [String], in folder: TemporaryFolder, bus: DBusAddress = .system) async throws {
        self.folder = folder
        cloud = try await SimulatedCloud.start(nodes: nodes, in: folder)
        kit = try Self.client(of: cloud, in: folder, bus: bus)
        try await kit.signIn(user: SimulatedCloud.user, password: SimulatedCloud.password)
    }

    /// A client that keeps what it has to in a folder, and nobody is signed in.
    static func client(
        of cloud: SimulatedCloud, in folder: TemporaryFolder, bus: DBusAddress = .system
    ) throws -> RainKitClient {
        var configuration = RainKitConfiguration(
            state: folder.file("state"), deployment: try Deployment(name: "sim", base: cloud.api))
        // Tests do not use the machine's own session, if it has one.
        configuration.environment = [:]
        configuration.transports = [SerialBoards(), BluetoothBoards(bus: bus), SoftAPBoards()]
        return RainKitClient(configuration)
    }

    static var home: WiFiNetwork {
        get throws { try WiFiNetwork(SimulatedBoard.ssid, passphrase: SimulatedBoard.passphrase) }
    }

    static let proof = ProofOfPossession(SimulatedBoard.proofOfPossession)
}
