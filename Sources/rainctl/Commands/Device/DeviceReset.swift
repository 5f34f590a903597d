// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct DeviceReset: DeviceCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Make a board forget failed Wi-Fi settings, so that it accepts others.",
        discussion: "Example: rainctl device reset --transport serial --port /dev/ttyUSB0 --pop-file pop.txt")

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (_, output) = try await withBoard { board in
            _ = try await board.identify()
            try await board.secure()
            try await board.reset()
        }
        output.result(ResetResult())
    }
}
