// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainKit

/// Offers the account and its boards to a language model's application, over standard input and output.
struct MCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "mcp", abstract: "Let an AI application read and control your boards (Model Context Protocol).",
        discussion: """
            Example: rainctl mcp --allow-changes

            The AI application starts this command and sends requests to it. To set this up, add the command to the application's \
            settings. Without --allow-changes or --allow, the application can only read. docs/mcp.md shows the settings of some \
            applications, and explains the risks.
            """)

    @Flag(help: "Allow tools that change something, such as set_params.")
    var allowChanges = false

    @Option(
        help: ArgumentHelp(
            "Allow this tool (repeatable). Tools that provision or delete need this option, even if you give --allow-changes.",
            valueName: "tool"),
        completion: .list(MCPTool.all.filter { $0.access != .reads }.map(\.name)))
    var allow: [String] = []

    @Option(
        help: ArgumentHelp(
            "Put boards on the network with this name. Only the tool provision_board needs this option.",
            valueName: "name"))
    var ssid: String?

    @Option(help: ArgumentHelp("Read the Wi-Fi password from this file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Flag(help: "Use a network that has no password.")
    var open = false

    @Option(
        help: ArgumentHelp("Read the boards' proof of possession from this file.", valueName: "file"),
        completion: .file())
    var popFile: String?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    /// The number of calls that run at once.
    static let maximumCalls = 16

    func validate() throws {
        for name in allow {
            let names = MCPTool.all.filter { $0.access != .reads }.map(\.name)
            guard names.contains(name) else {
                throw ValidationError(
                    "--allow: \"\(name.onOneLine)\" is not a tool that this option can allow. Possible tools: "
                        + "\(names.joined(separator: ", ")).")
            }
        }
        if open, passphraseFile != nil {
            throw ValidationError("An open network has no password: omit --open or --passphrase-file.")
        }
        if ssid == nil, open || passphraseFile != nil {
            throw ValidationError("\(open ? "--open" : "--passphrase-file") needs --ssid.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        try check(context)
        let service = CommandService(context, options)
        let settings = MCPSettings(
            allowsChanges: allowChanges, allowed: Set(allow), ssid: ssid, passphraseFile: passphraseFile, isOpen: open,
            popFile: popFile)
        let limit = RunLimit(Self.maximumCalls)
        let connection = try LineConnection(input: STDIN_FILENO, output: STDOUT_FILENO)
        let session = MCPSession(service: service, settings: settings) { connection.send($0) }
        try await connection.serve(session.dispatcher(limit))
    }

    /// Checks everything that each call would need, so that a wrong option ends the server at its start and not in a conversation. Nobody has
    /// to be signed in yet.
    func check(_ context: Context) throws {
        do {
            _ = try context.rainMakerClient().account()
        } catch let error as RainKitError {
            guard case .account(let cause) = error.cause, [.notSignedIn, .expired].contains(cause.code) else {
                throw error
            }
        }
        if ssid != nil, !open, passphraseFile == nil, context.variable("RAINKIT_PASSPHRASE") == nil {
            throw CommandFailure(
                .usage,
                message:
                    "--ssid needs the password of the network: give --passphrase-file FILE. For a network without a password, give --open."
            )
        }
        try check(passphraseFile, of: "Wi-Fi password", option: "--passphrase-file")
        try check(popFile, of: "proof of possession", option: "--pop-file")
    }

    private func check(_ file: String?, of name: String, option: String) throws(CommandFailure) {
        guard let file else { return }
        var status = stat()
        // Each call reads the file again.
        guard stat(file, &status) != 0 || status.st_mode & S_IFMT != S_IFIFO else {
            throw CommandFailure(
                .badData,
                message: "The \(name) cannot be read from \(file.onOneLine): it is a pipe. Give a file (\(option)).")
        }
        guard try SecretSource.contents(of: file, name: name, within: .seconds(5)).isEmpty else { return }
        throw CommandFailure(.usage, reason: "empty_secret", message: "The \(name) is empty (\(option)).")
    }
}
