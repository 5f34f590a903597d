// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Claims a board and does nothing else; `provision` does so by itself where a board needs it.
struct DeviceClaim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim",
        abstract: "Give a board its cloud certificate, and print the node id that it has from then on.",
        discussion: """
            Example: rainctl device claim --transport softap --pop-file pop.txt

            Firmware that cannot claim itself is claimed over its cable, in its place: --host asks the chip's boot loader by esptool, and writes \
            the certificate into the board's partition fctry. Example: rainctl device claim --host --port /dev/ttyUSB0
            """)

    @OptionGroup var device: DeviceOptions
    @OptionGroup(title: "With --host") var host: HostClaimOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))
    @Option(help: ArgumentHelp("Stream events as lines of JSON.", valueName: "form"))
    var events: Provision.Events?
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try host.check(with: device) }

    func run() async throws {
        let context = try device.context(options)
        let stream = EventStream(context, events, device)
        try await stream.ending { try await claim(context, stream) }
    }

    private func claim(_ context: Context, _ stream: EventStream) async throws -> ClaimResult {
        let time = TimeBudget(timeout)
        // Fails with `notSignedIn` before a byte goes to the board.
        let client = try context.rainMakerClient()
        if host.host { return try await claimByHost(context, client, time) }
        try await time.run { try await client.checkCanProvision() }
        let target = try await BoardTarget(device, context, client, within: time)
        return try await target.askingForProofAgain(context, within: time) { target in
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

    private func claimByHost(
        _ context: Context, _ client: RainKitClient, _ time: TimeBudget
    ) async throws -> ClaimResult {
        let tools = Esptool(python: host.python, environment: context.environmentOfPrograms)
        var claim = HostClaim(context: context, client: client, time: time, tools: tools)
        return try await claim.run(host.request(at: device.port))
    }
}
