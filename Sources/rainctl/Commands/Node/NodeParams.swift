// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct NodeParams: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "params", abstract: "The values of a board's devices: read them, set them.",
        subcommands: [NodeParamsGet.self, NodeParamsSet.self])
}
