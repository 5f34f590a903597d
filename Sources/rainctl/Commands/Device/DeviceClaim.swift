// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

/// Claims a board and does nothing else. `provision` also claims a board that needs it.
struct DeviceClaim: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "claim",
        abstract: "Give a board its cloud certificate, and print its new node id.",
        discussion: """
            Example: rainctl device claim --transport softap --pop-file pop.txt
                     rainctl device claim --host --port /dev/ttyUSB0

            If the firmware cannot get the certificate by itself, use --host. rainctl then reads the board's MAC address with esptool, and \
            writes the certificate to the board's partition fctry.
            """)

    @OptionGroup var device: DeviceOptions
    @OptionGroup(title: "With --host") var host: HostClaimOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))
    @Option(help: ArgumentHelp("Print each event as a line of JSON when it happens.", valueName: "form"))
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
        // Fails with `notSignedIn` before anything is sent to the board.
        let client = try context.rainMakerClient()
        if host.host { return try await claimByHost(context, client, time) }
        let account = try await time.run { try await client.checkCanProvision() }
        let target = try await BoardTarget(device, context, client, within: time)
        return try await target.askingForProofAgain(context, within: time) { target in
            let board = try await target.locate(within: time)
            stream.writer?.name(device.deviceName ?? board.peer)
            let report = ProgressReport(context, options, events: stream, peer: board.peer)

            async let _ = report.animate()
            return ClaimResult(
                try await client.provision(
                    board, .claim(deadline: time.left, waitsForBoard: target.mayAppearLater), account: account
                ) { report.take($0) })
        }
    }

    private func claimByHost(
        _ context: Context, _ client: RainKitClient, _ time: TimeBudget
    ) async throws -> ClaimResult {
        let request = host.request(
            at: device.port.map { context.systemFiles.device($0) }, environment: context.environmentOfPrograms,
            deadline: time.left)
        do {
            return ClaimResult(try await client.claimOverCable(request) { context.output.say($0.text) })
        } catch let error as RainKitError where error.remedies == [.claimService] {
            throw try context.failureWithoutClaimService(at: client.configuration.deployment, error)
        }
    }
}

/// The options of a claim by the host.
struct HostClaimOptions: ParsableArguments {
    @Flag(help: "Get the certificate on this machine, and write it to the board's flash over the cable.")
    var host = false

    @Option(
        help: ArgumentHelp(
            "Write the certificate and the key to this flash address (default: the address in the board's partition table).",
            valueName: "address"))
    var flashAddress: String?

    @Option(help: ArgumentHelp("Use this MAC address instead of reading it from the board.", valueName: "mac"))
    var mac: String?

    @Option(
        help: ArgumentHelp(
            "Write the flash image with the certificate and the key to a new file, and not to the board. With --mac, no board is needed.",
            valueName: "file"), completion: .file())
    var image: String?

    @Option(
        help: ArgumentHelp(
            "Use this Python. It must have the packages esptool and esp-idf-nvs-partition-gen.", valueName: "program"))
    var python = "python3"

    func check(with device: DeviceOptions) throws {
        guard host else {
            if flashAddress != nil || mac != nil || image != nil {
                throw ValidationError("--flash-address, --mac and --image need --host.")
            }
            return
        }
        let isElsewhere = device.place.keys.contains { $0 != "port" } || device.qrcode != nil
        if isElsewhere || !["serial", nil].contains(device.transport.scheme) {
            throw ValidationError("--host works only over a cable: give --port, and no other transport.")
        }
        if flashAddress != nil, address == nil {
            throw ValidationError("--flash-address must be a multiple of 4096 (0x1000), such as 0x340000.")
        }
        if mac != nil, macAddress == nil {
            throw ValidationError("--mac must have twelve hexadecimal digits, such as 7CDFA1000042.")
        }
    }

    func request(
        at port: String?, environment: [String: String], deadline: Duration
    ) -> CableClaimRequest {
        CableClaimRequest(
            port: port, mac: macAddress, flashAddress: address, image: image, python: python, environment: environment,
            deadline: deadline)
    }

    /// The address for the credentials. Flash is erased in sectors of 4096 bytes.
    private var address: UInt32? {
        guard let flashAddress else { return nil }
        let isHexadecimal = flashAddress.lowercased().hasPrefix("0x")
        let number = UInt32(
            isHexadecimal ? flashAddress.dropFirst(2) : flashAddress[...], radix: isHexadecimal ? 16 : 10)
        return number.flatMap { $0 % 4096 == 0 ? $0 : nil }
    }

    /// The MAC address as claim services write it.
    private var macAddress: String? {
        guard let mac else { return nil }
        let digits = mac.filter { $0 != ":" && $0 != "-" }.uppercased()
        return digits.utf8.count == 12 && digits.allSatisfy(\.isHexDigit) ? digits : nil
    }
}

extension ClaimResult: CommandResult {
    var text: String {
        guard let nodeID else { return "The board already has its certificate, so there is nothing to claim." }
        var lines = ["node id: \(nodeID)"]
        if let mac { lines.append("board: \(mac)") }
        if let image {
            lines.append(
                "image: \(image.onOneLine) (contains the board's private key: flash the image to the partition fctry, then delete the file)"
            )
        }
        if let port {
            lines.append(
                "The board has its certificate. Next: \(commandLine("provision --port \(port.asShellWord) --ssid NETWORK"))"
            )
        }
        return lines.joined(separator: "\n")
    }
}
