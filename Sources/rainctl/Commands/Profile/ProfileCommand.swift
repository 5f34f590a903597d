// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Deployments of the cloud: Espressif's, and those that a user adds.
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Deployments of the RainMaker cloud: Espressif's and your own.",
        subcommands: [
            ProfileList.self, ProfileShow.self, ProfileAdd.self, ProfileUse.self, ProfileRemove.self,
        ])
}
