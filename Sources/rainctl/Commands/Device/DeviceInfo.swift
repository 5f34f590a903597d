import ArgumentParser
import RainJSON
import RainKit

struct DeviceInfo: DeviceCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Ask a board what it is.",
        discussion: "Example: rainctl device info --transport serial --port /dev/ttyUSB0")

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (identity, output) = try await withBoard { board in try await board.identify() }
        var members: [JSONValue.Member] = [.init("version", .string(identity.version))]
        var lines = ["version: \(identity.version.isEmpty ? "unknown" : identity.version.onOneLine)"]
        if let security = identity.security {
            members += [
                .init("security", .integer(Int64(security.version))), .init("patch", .integer(Int64(security.patch))),
                .init("proof_of_possession", .bool(security.needsProofOfPossession)),
            ]
            let proof = security.needsProofOfPossession ? "with" : "without"
            lines.append("security: \(security.version), \(proof) proof of possession")
        }
        if let node = identity.nodeID {
            members.append(.init("node_id", .string(node.rawValue)))
            lines.append("node id: \(node)")
        }
        members += [
            .init("association", .string(identity.association.rawValue)),
            .init("needs_claim", .bool(identity.needsClaim)),
            .init("capabilities", .array(identity.capabilities.map { .string($0) })),
        ]
        lines.append("association: \(identity.association.rawValue)")
        if identity.needsClaim { lines.append("needs to be claimed") }
        if !identity.capabilities.isEmpty {
            lines.append("capabilities: \(identity.capabilities.joined(separator: " ").onOneLine)")
        }
        output.result(members, text: lines.joined(separator: "\n"))
    }
}
