// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

/// The options for reaching a board and opening a session with it. All commands for boards share them.
struct DeviceOptions: ParsableArguments {
    @Option(
        help:
            "Reach the board over a cable (serial), Bluetooth (ble), its own access point (softap) or your network (on-network)."
    )
    var transport: TransportName = .auto

    @Option(
        help: ArgumentHelp("Use this serial port, such as /dev/ttyUSB0.", valueName: "path"), completion: .serialPorts)
    var port: String?

    @Option(
        help: ArgumentHelp(
            "Connect to the board at this address (only for softap and on-network). For softap, the address is usually 192.168.4.1:80.",
            valueName: "host[:port]"))
    var deviceHost: String?

    @Option(
        help: ArgumentHelp(
            "Use the Bluetooth adapter with this name, such as hci0, or with this address (repeatable; default: all adapters).",
            valueName: "adapter"))
    var adapter: [String] = []

    @Option(
        name: [.customLong("device-name"), .customLong("device_name", withSingleDash: false)],
        help: ArgumentHelp(
            "Choose the board with this name, such as PROV_a1b2c3. Over Bluetooth, you can also give the board's address.",
            valueName: "name"
        ))
    var deviceName: String?

    @Option(
        help: ArgumentHelp(
            "Read the password of the board's own access point from a file.", valueName: "file"),
        completion: .file())
    var apPasswordFile: String?

    @Option(
        help: ArgumentHelp(
            "Use the board's QR code: the code's text, a text file, a picture (PNG, JPEG), or - for standard input.",
            valueName: "code"),
        completion: .file())
    var qrcode: String?

    @Option(
        help: ArgumentHelp(
            "Use this proof of possession. Other users of this machine can see it, so prefer --pop-file.",
            valueName: "pop"))
    var pop: String?

    @Option(help: ArgumentHelp("Read the proof of possession from a file.", valueName: "file"), completion: .file())
    var popFile: String?

    @Flag(help: "Read the proof of possession from standard input.")
    var popStdin = false

    @Option(
        name: [.customLong("sec-ver"), .customLong("sec_ver")],
        help: ArgumentHelp("Require this security scheme: 0, 1 or 2.", valueName: "version"))
    var securityVersion: Int?

    @Option(help: ArgumentHelp("Use this user name for security scheme 2.", valueName: "name"))
    var username: String?

    @Flag(help: "Wait until the board is plugged in or in range.")
    var wait = false

    @Option(
        help: ArgumentHelp(
            "Write the board's log, without secrets, to this file. The board must be on a cable.", valueName: "file"),
        completion: .file())
    var deviceLog: String?

    func validate() throws {
        if let securityVersion, !(0...2).contains(securityVersion) {
            throw ValidationError("--sec-ver must be 0, 1 or 2.")
        }
        // The log of a board on a cable may name its access point.
        if apPasswordFile != nil, let scheme = transport.scheme, !["softap", "serial"].contains(scheme) {
            throw ValidationError("--ap-password-file needs --transport softap or serial.")
        }
        try checkTransport()
    }

    /// Returns the context of these options and of those of every command.
    /// - Parameter list: the form that a command which prints a list was asked for.
    func context(_ options: GlobalOptions, list: ListForm? = nil) throws(CommandFailure) -> Context {
        var context = try Context(options, list: list)
        if let deviceLog { context.deviceLog = try DeviceLogFile(deviceLog) }
        return context
    }

    /// The options for the board's place, by their names.
    var place: [String: String] {
        [
            "port": port, "device-host": deviceHost, "adapter": adapter.isEmpty ? nil : adapter.joined(separator: ","),
            RainKitClient.nameOption: deviceName,
        ]
        .compactMapValues(\.self)
    }

    /// Checks that the transport takes the options. Each transport declares its options.
    private func checkTransport() throws {
        let given = place.keys.filter { $0 != RainKitClient.nameOption }.sorted()
        for name in given {
            let owners = Transports.having(option: name).map(\.scheme)
            if let scheme = transport.scheme, !owners.contains(scheme) {
                throw ValidationError("--\(name) needs --transport \(owners.joined(separator: " or ")).")
            }
            for other in given where other != name {
                guard !Transports.having(option: other).contains(where: { owners.contains($0.scheme) }) else {
                    continue
                }
                throw ValidationError("--\(name) and --\(other) reach different boards: give only one of them.")
            }
        }
    }
}

extension BoardCredentials {
    /// The credentials from the options and the board's label, for a session with it.
    init(
        _ options: DeviceOptions, _ code: QRPayload?, _ context: Context, within time: TimeBudget
    ) throws(CommandFailure) {
        let source = SecretSource(
            name: "proof of possession", flag: "--pop", value: options.pop, file: options.popFile,
            fromStandardInput: options.popStdin, environmentVariable: .proofOfPossession,
            ifThereIsNone: "If the board has no proof of possession, omit this option.", time: time)
        let given = try source.read(environment: context.environment, output: context.output)
            .map { ProofOfPossession($0) }
        let proof = given ?? code?.proofOfPossession
        // The board counts each wrong proof.
        if let given, let printed = code?.proofOfPossession, given != printed {
            let option =
                if options.popFile != nil {
                    "--pop-file"
                } else if options.pop != nil {
                    "--pop"
                } else {
                    options.popStdin ? "--pop-stdin" : "the variable \(SecretVariable.proofOfPossession.rawValue)"
                }
            throw CommandFailure(
                .usage,
                message:
                    "The QR code and \(option) have different proofs of possession. Give only the right one of them.")
        }
        self.init(
            username: options.username ?? code?.username ?? Self.defaultUsername,
            securityVersion: options.securityVersion
        ) {
            if let proof { return proof }
            guard context.mayAsk else { return nil }
            return await ProofQuestion(screen: context.screen).ask()
        }
        hasProofOfPossession = given != nil
        accessPointPassphrase = code?.accessPointPassphrase
        if let file = options.apPasswordFile {
            accessPointPassphrase = try SecretSource.contents(
                of: file, name: "password of the board's network", within: time.left)
        }
        // A device that answers without encryption must not weaken the security on the label; the user may.
        if options.securityVersion == nil, let code { leastSecurity = code.leastSecurity }
        guard proof != nil, options.securityVersion != 0 else { return }
        whenUnproven = { security in
            context.output.warn(
                security.version == 0
                    ? "the board uses Security 0: nothing is encrypted, not even the Wi-Fi password. The proof of possession is not used. "
                        + "To refuse such a board, give --sec-ver 1 or 2."
                    : "the board requires no proof of possession, so the given proof is not used. Nothing proves that this is the right board.",
                reason: "proof_not_used")
        }
    }
}
