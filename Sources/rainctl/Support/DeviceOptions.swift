// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

/// How to reach a board and open a session with it: shared by every command that talks to one.
struct DeviceOptions: ParsableArguments {
    @Option(help: "How to reach the board.")
    var transport: TransportName = .auto

    @Option(help: ArgumentHelp("The serial port, such as /dev/ttyUSB0.", valueName: "path"), completion: .serialPorts)
    var port: String?

    @Option(
        help: ArgumentHelp(
            "The board's address (SoftAP, where boards have 192.168.4.1:80, and on-network).",
            valueName: "host[:port]"))
    var deviceHost: String?

    @Option(help: ArgumentHelp("The Bluetooth adapter, such as hci0, or its address.", valueName: "adapter"))
    var adapter: String?

    @Option(
        name: [.customLong("device-name"), .customLong("device_name", withSingleDash: false)],
        help: ArgumentHelp(
            "The board's name, such as PROV_a1b2c3 (over Bluetooth also its address).", valueName: "name"))
    var deviceName: String?

    @Option(
        help: ArgumentHelp("Read the password of the board's own network from a file (SoftAP).", valueName: "file"),
        completion: .file())
    var apPasswordFile: String?

    @Option(
        help: ArgumentHelp(
            "The board's QR code: its text, a file, a picture (PNG, JPEG), or - for standard input.", valueName: "code"),
        completion: .file())
    var qrcode: String?

    @Option(help: ArgumentHelp("The proof of possession (seen by other users: prefer --pop-file).", valueName: "pop"))
    var pop: String?

    @Option(help: ArgumentHelp("Read the proof of possession from a file.", valueName: "file"), completion: .file())
    var popFile: String?

    @Flag(help: "Read the proof of possession from standard input.")
    var popStdin = false

    @Option(
        name: [.customLong("sec-ver"), .customLong("sec_ver")],
        help: ArgumentHelp("Insist on this security scheme: 0, 1 or 2.", valueName: "version"))
    var securityVersion: Int?

    @Option(help: ArgumentHelp("The user name of Security 2.", valueName: "name"))
    var username: String?

    @Flag(help: "Wait for a board that is not plugged in, or not in reach, yet.")
    var wait = false

    @Option(
        help: ArgumentHelp(
            "Keep what the board prints on its cable in this file, secrets left out.", valueName: "file"),
        completion: .file())
    var deviceLog: String?

    func validate() throws {
        if let securityVersion, !(0...2).contains(securityVersion) {
            throw ValidationError("--sec-ver is 0, 1 or 2.")
        }
        // A board on a cable may be handed on to its access point by its log.
        if apPasswordFile != nil, let scheme = transport.scheme, !["softap", "serial"].contains(scheme) {
            throw ValidationError("--ap-password-file goes with --transport softap or serial.")
        }
        try checkTransport()
    }

    /// What the options ask for besides those of every command.
    func context(_ options: GlobalOptions) throws(CommandFailure) -> Context {
        var context = try Context(options)
        if let deviceLog { context.deviceLog = try DeviceLogFile(deviceLog) }
        return context
    }

    /// The options that say where the board is, by their names.
    var place: [String: String] {
        ["port": port, "device-host": deviceHost, "adapter": adapter, RainKitClient.nameOption: deviceName]
            .compactMapValues(\.self)
    }

    /// Each option belongs to transports, which say so themselves.
    private func checkTransport() throws {
        let given = place.keys.filter { $0 != RainKitClient.nameOption }.sorted()
        for name in given {
            let owners = Transports.having(option: name).map(\.scheme)
            if let scheme = transport.scheme, !owners.contains(scheme) {
                throw ValidationError("--\(name) goes with --transport \(owners.joined(separator: " or ")).")
            }
            for other in given where other != name {
                guard !Transports.having(option: other).contains(where: { owners.contains($0.scheme) }) else {
                    continue
                }
                throw ValidationError("--\(name) and --\(other) are ways to different boards: give one of them.")
            }
        }
    }
}

extension BoardCredentials {
    /// What the options and the board's label say, for a session with it.
    init(
        _ options: DeviceOptions, _ code: QRPayload?, _ context: Context, within time: TimeBudget
    ) throws(CommandFailure) {
        let source = SecretSource(
            name: "proof of possession", flag: "--pop", value: options.pop, file: options.popFile,
            fromStandardInput: options.popStdin, environmentVariable: .proofOfPossession,
            ifThereIsNone: "Leave it away for a board that wants none.", time: time)
        let given = try source.read(environment: context.environment, output: context.output)
            .map { ProofOfPossession($0) }
        let proof = given ?? code?.proofOfPossession
        self.init(
            username: options.username ?? code?.username ?? Self.defaultUsername,
            securityVersion: options.securityVersion
        ) {
            if let proof { return proof }
            guard context.mayAsk else { return nil }
            return await context.screen.asking {
                while let secret = await context.screen.askSecret(source.question) {
                    guard secret.isEmpty else { return ProofOfPossession(secret) }
                    context.screen.say("The board wants one: it is on its label or in its QR code.")
                }
                return nil
            }
        }
        hasProofOfPossession = given != nil
        accessPointPassphrase = code?.accessPointPassphrase
        if let file = options.apPasswordFile {
            accessPointPassphrase = try SecretSource.contents(
                of: file, name: "password of the board's network", within: time.left)
        }
        // What the label says cannot be talked down by whoever answers in clear; the user can.
        if options.securityVersion == nil, let code { leastSecurity = code.leastSecurity }
        guard proof != nil, options.securityVersion != 0 else { return }
        whenUnproven = { security in
            context.output.warn(
                security.version == 0
                    ? "the board speaks Security 0, so the proof of possession is not used and all goes in clear, the "
                        + "Wi-Fi password too; --sec-ver 1 or 2 refuses such a board."
                    : "the board wants no proof of possession, so the one given is not used: nothing shows that this "
                        + "is the board it belongs to.", reason: "proof_not_used")
        }
    }
}
