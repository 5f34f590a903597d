// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct DeviceScan: DeviceCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "List the networks that a board hears, strongest first.",
        discussion: "Example: rainctl device scan --transport softap --pop-file pop.txt")

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (found, output) = try await withBoard { board in
            _ = try await board.identify()
            try await board.secure()
            return try await board.scan()
        }
        if found.mayLackNetworks { output.warn(NetworkWords.fullScan, reason: "scan_full") }
        output.result(ScanResult(found))
    }
}
