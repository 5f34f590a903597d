// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON
import RainKit

struct DeviceParams: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "params", abstract: "Read and set the values of a board that is not yet in an account.",
        subcommands: [DeviceParamsGet.self, DeviceParamsSet.self])
}

struct DeviceParamsGet: DeviceCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "get", abstract: "Read values directly from a board.",
        discussion: "Example: rainctl device params get --device-name PROV_a1b2c3 --pop-file pop.txt")

    @Argument(
        help: ArgumentHelp("The values to print, such as Light.Power or Light (default: all).", valueName: "path"))
    var paths: [String] = []

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @Option(help: .listForm) var format = ListForm.text
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (node, output) = try await withBoard { try await LocalNode(provisioning: $0) }
        output.result(
            ParamsResult(
                node: node.nodeID,
                try ParamsResult.chosen(paths, of: node.values, node.nodeID.rawValue.onOneLine, node.configuration)))
    }
}

struct DeviceParamsSet: DeviceCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "set", abstract: "Set values directly on a board.",
        discussion: """
            Example: rainctl device params set Light.Power=off --transport ble \\
                         --device-name PROV_a1b2c3 --pop-file pop.txt

            rainctl first checks whether the values fit the board's node configuration.
            """)

    @Argument(help: ArgumentHelp("The values to set, such as Light.Power=on.", valueName: "path=value"))
    var changes: [String]

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try GivenValue.validate(changes) }

    func run() async throws {
        let changes = changes
        let (outcome, output) = try await withBoard { board in
            try await LocalNode(provisioning: board).set { configuration throws(ParameterError) in
                try GivenValue.changes(changes, by: configuration)
            }
        }
        try ParamsSetResult([outcome], isLocal: true).tell(output)
    }
}
