// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
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

/// How a board is claimed in its place.
struct HostClaimOptions: ParsableArguments {
    @Flag(help: "Claim over the cable in the board's place, and write the certificate into its flash.")
    var host = false

    @Option(
        help: ArgumentHelp(
            "Where the credentials go; read from the board's partition table if not given.", valueName: "address"))
    var flashAddress: String?

    @Option(help: ArgumentHelp("The board's MAC address, in the place of what its boot loader says.", valueName: "mac"))
    var mac: String?

    @Option(
        help: ArgumentHelp(
            "Write the image into this new file, and nothing into the board. With --mac no board is needed.",
            valueName: "file"), completion: .file())
    var image: String?

    @Option(help: ArgumentHelp("The Python that has esptool and esp-idf-nvs-partition-gen.", valueName: "program"))
    var python = "python3"

    func check(with device: DeviceOptions) throws {
        guard host else {
            if flashAddress != nil || mac != nil || image != nil {
                throw ValidationError("--flash-address, --mac and --image go with --host.")
            }
            return
        }
        let isElsewhere = device.place.keys.contains { $0 != "port" } || device.qrcode != nil
        if isElsewhere || !["serial", nil].contains(device.transport.scheme) {
            throw ValidationError("--host claims over a cable: give --port, and no other way to a board.")
        }
        if flashAddress != nil, address == nil {
            throw ValidationError("--flash-address is a number of 4096-byte sectors, such as 0x340000.")
        }
        if mac != nil, macAddress == nil { throw ValidationError("--mac has twelve hexadecimal digits: 7CDFA1000042.") }
    }

    func request(at port: String?) -> HostClaim.Request {
        HostClaim.Request(port: port, mac: macAddress, flashAddress: address, image: image)
    }

    /// Flash is erased by the sector.
    private var address: UInt32? {
        guard let flashAddress else { return nil }
        let isHexadecimal = flashAddress.lowercased().hasPrefix("0x")
        let number = UInt32(
            isHexadecimal ? flashAddress.dropFirst(2) : flashAddress[...], radix: isHexadecimal ? 16 : 10)
        return number.flatMap { $0 % 4096 == 0 ? $0 : nil }
    }

    /// As claim services write it.
    private var macAddress: String? {
        guard let mac else { return nil }
        let digits = mac.filter { $0 != ":" && $0 != "-" }.uppercased()
        return digits.utf8.count == 12 && digits.allSatisfy(\.isHexDigit) ? digits : nil
    }
}

/// What a claim came to: the node id that the board has from then on, or that there was nothing to claim.
struct ClaimResult: CommandResult {
    let nodeID: String?
    let claimed: Bool
    /// Of a claim by the host: the board's address, where in its flash its credentials are, or the file that has them.
    var mac: String?
    var flashAddress: String?
    var image: String?
    var port: String?

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case claimed, mac, image
        case flashAddress = "flash_address"
    }

    var text: String {
        guard let nodeID else { return "The board has its certificate already: nothing to claim." }
        var lines = ["node id: \(nodeID)"]
        if let mac { lines.append("board: \(mac)") }
        if let image {
            lines.append(
                "image: \(image.onOneLine), with the board's private key; flash it to the partition fctry, then delete it"
            )
        }
        if let port {
            lines.append(
                "The board has its certificate. Next: rainctl provision --port \(port.asShellWord) --ssid NETWORK")
        }
        return lines.joined(separator: "\n")
    }
}

extension ClaimResult {
    init(_ node: OnboardedNode) {
        nodeID = node.claimed ? node.nodeID?.rawValue : nil
        claimed = node.claimed
    }

    /// A claim in the board's place.
    init(node: NodeID, mac: String, image: String?, flashAddress: String?, port: String? = nil) {
        nodeID = node.rawValue
        claimed = true
        (self.mac, self.image, self.flashAddress, self.port) = (mac, image, flashAddress, port)
    }
}
