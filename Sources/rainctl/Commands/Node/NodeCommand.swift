// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct NodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "node", abstract: "The boards in your account.", subcommands: [NodeList.self])
}
