// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON
import RainKit

struct DeviceParams: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "params", abstract: "The values of a board that is in no account: read them, set them.",
        subcommands: [DeviceParamsGet.self, DeviceParamsSet.self])
}

struct DeviceParamsGet: DeviceCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the values that a board has, over the way by which it is provisioned.",
        discussion: "Example: rainctl device params get --transport ble --device-name PROV_a1b2c3 --pop-file pop.txt")

    @Argument(
        help: ArgumentHelp("The values wanted, such as Light.Power or Light; all if none is named.", valueName: "path"))
    var paths: [String] = []

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (node, output) = try await withBoard { try await BoardValues(of: $0) }
        output.result(
            ParamsResult(
                node: NodeID(node.id),
                try ParamsResult.chosen(paths, of: node.values, node.id.onOneLine, node.described)))
    }
}

struct DeviceParamsSet: DeviceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set values of a board, over the way by which it is provisioned.",
        discussion: """
            Example: rainctl device params set Light.Power=off --transport ble --device-name PROV_a1b2c3 --pop-file pop.txt

            Names, types and bounds are checked by what the board says of itself before anything is sent.
            """)

    @Argument(help: ArgumentHelp("What is to have which value, such as Light.Power=on.", valueName: "path=value"))
    var changes: [String]

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try GivenValue.validate(changes) }

    func run() async throws {
        let changes = changes
        let (outcome, output) = try await withBoard { board -> ParameterSetter.Outcome in
            let node = try await BoardValues(of: board)
            let wanted: [ParameterChange]
            do throws(ParameterError) {
                guard let configuration = node.described else {
                    throw ParameterError(.noConfiguration, message: "The board has not said what it consists of.")
                }
                wanted = try GivenValue.changes(changes, by: configuration)
            } catch {
                throw CommandFailure(error, of: node.id.onOneLine)
            }
            let data = NodeData(board)
            try await data.setParameters(wanted.json.serialized())
            var outcome = ParameterSetter.Outcome(node: NodeID(node.id))
            outcome.leaveOut(wanted.unreported(by: node.described), of: wanted)
            // A board that restarts now could not be asked.
            guard !outcome.isSentOnly else { return outcome }
            let report = try await data.parameters()
            guard let now = try? JSONValue(parsing: report) else {
                throw CommandFailure(
                    .badData,
                    message: "\(node.id.onOneLine) has taken the values; what it says that it has now cannot be read.")
            }
            let reported = wanted.reported(by: node.described)
            outcome.isReported = ParameterSetter.holds(reported, in: now)
            outcome.seen = ParameterSetter.others(reported, in: now, node.described)
            return outcome
        }
        try ParamsSetResult([outcome], isLocal: true).tell(output)
    }
}

/// What a board says of the node that it is.
private struct BoardValues: Sendable {
    let id: String
    let configuration: JSONValue
    let values: JSONValue

    var described: NodeConfiguration? { NodeConfiguration(configuration) }

    /// Opens the session. Throws `unsupported` where the firmware does not have it.
    init(of board: any Board) async throws {
        let identity = try await board.identify()
        guard identity.capabilities.contains(NodeData.capability) else {
            throw CommandFailure(
                .other, reason: "unsupported",
                message:
                    "\(board.peer.onOneLine) does not tell its values while it is provisioned: its firmware was built without them (rmaker_extra's local_ctrl). "
                    + "Once it is in your account, use rainctl node params.")
        }
        try await board.secure()
        let data = NodeData(board)
        let given = try await data.configuration()
        guard let configuration = try? JSONValue(parsing: given),
            let values = try? JSONValue(parsing: try await data.parameters()), values.members != nil
        else { throw CommandFailure(.badData, message: "What the board says of itself is no JSON.") }
        self.configuration = configuration
        self.values = values
        id = configuration["node_id"]?.string ?? board.peer
    }
}
