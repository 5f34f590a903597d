// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
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
        let (identity, output) = try await withBoard(followsLog: false) { board in try await board.identify() }
        output.result(DeviceInfoResult(identity))
    }
}
