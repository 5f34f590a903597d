// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Claims a board and does nothing else; `provision` does so by itself where a board needs it.
struct DeviceClaim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim",
        abstract: "Give a board its cloud certificate, and print the node id that it has from then on.",
        discussion: "Example: rainctl device claim --transport softap --pop-file pop.txt")

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))
    @Option(help: ArgumentHelp("Stream events as lines of JSON.", valueName: "form"))
    var events: Provision.Events?
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try device.context(options)
        let stream = EventStream(context, events, device)
        try await stream.ending { try await claim(context, stream) }
    }

    private func claim(_ context: Context, _ stream: EventStream) async throws -> ClaimResult {
        let time = TimeBudget(timeout)
        // Fails with `notSignedIn` before a byte goes to the board.
        let client = try context.rainMakerClient()
        try await time.run { try await client.checkCanProvision() }
        let target = try await BoardTarget(device, context, client, within: time)
        let board = try await target.open(within: time)
        stream.name(device.deviceName ?? board.peer)
        let report = ProgressReport(context, options, events: stream, peer: board.peer)

        async let _ = report.animate()
        return ClaimResult(
            try await client.provision(board, .claim(deadline: time.left, waitsForBoard: target.mayAppearLater)) {
                report.take($0)
            })
    }
}
