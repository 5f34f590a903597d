// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct NodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "node", abstract: "The boards in your account: see them, switch them, rename and remove them.",
        subcommands: [
            NodeList.self, NodeShow.self, NodeStatus.self, NodeConfig.self, NodeParams.self, NodeRename.self,
            NodeRemove.self, NodeTags.self, NodeMetadata.self, NodeSchedule.self, NodeScene.self,
            Shares<SharedNodes>.self, NodeCommands.self, NodeOTA.self, NodeWatch.self,
        ])
}
