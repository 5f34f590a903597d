// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

@main
struct CloudSim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cloud-sim",
        abstract: "Simulated servers on this machine: the ESP RainMaker cloud, and what people sign in to.",
        discussion: """
            Without a subcommand it is the cloud, and takes its options: `cloud-sim --user a@b.c:secret`. `cloud-sim cloud --help` and
            `cloud-sim identity --help` list them.
            """,
        subcommands: [SimulateCloud.self, SimulateIdentity.self], defaultSubcommand: SimulateCloud.self)
}
