// SPDX-License-Identifier: Apache-2.0
import RainKit

/// A program with manual pages, and what its pages have besides the text of its help.
enum ManualProgram: String {
    case rainctl
    case cloudSim = "cloud-sim"
    case firmwareSim = "firmware-sim"

    typealias Entry = (label: String, text: String)

    /// Returns the exit codes that are usual for a command; for the program itself, all of them.
    func exitCodes(of command: CommandDescription) -> [Entry] {
        switch self {
        case .rainctl:
            let all = command.names.count == 1
            let usual = Self.usualExitCodes(of: command.optionNames)
            return ExitStatus.allCases.filter { all || usual.contains($0) }.map {
                ("\($0.rawValue) \($0.name)", $0.explanation)
            }
        case .cloudSim:
            return [
                ("0", "Ended by SIGTERM, SIGINT or SIGHUP."), ("64", "An option is wrong."),
                ("69", "A port is taken, mosquitto is missing, or another simulator uses the data folder."),
                ("70", "An internal failure."), ("74", "The data folder or the journal cannot be used."),
            ]
        case .firmwareSim:
            return [("0", "Ended by SIGTERM."), ("64", "An option is wrong, or firmware-sim could not start.")]
        }
    }

    private static func usualExitCodes(of options: Set<String>) -> Set<ExitStatus> {
        var codes: Set<ExitStatus> = [.ok, .other, .usage]
        if options.contains("--account") { codes.formUnion([.cannotWrite, .config, .cancelled]) }
        if options.contains("--timeout") { codes.formUnion([.deadline, .temporary, .auth]) }
        if options.contains("--transport") {
            codes.formUnion([.wrongPop, .deviceLost, .securityMismatch, .unavailable, .badData])
        }
        if options.contains("--ssid") {
            codes.formUnion([.wifiAuthFailed, .wifiApNotFound, .mappingFailed, .claimNeeded])
        }
        return codes
    }

    /// Returns the variables that replace an option of a command; for the program itself, all of them.
    func environment(of command: CommandDescription) -> [Entry] {
        let temporary = Entry("TMPDIR", "The parent of temporary folders; by default /tmp.")
        switch self {
        case .rainctl:
            let options = command.optionNames
            return EnvironmentVariable.all.filter { variable in
                command.names.count == 1 || options.contains { variable.meaning.contains("`\($0)`") }
            }.map { ($0.names.joined(separator: ", "), $0.text) }
        case .cloudSim: return [("PATH", "The folders that are searched for mosquitto."), temporary]
        case .firmwareSim:
            return [("DBUS_SYSTEM_BUS_ADDRESS", "The bus for --ble and --ble-adapter."), temporary]
        }
    }

    func files(of command: CommandDescription) -> [Entry] {
        switch self {
        case .rainctl where command.names.count == 1: Self.files
        case .rainctl where command.optionNames.contains("--account"): Self.folders
        case .rainctl: []
        case .cloudSim:
            command.names.count == 1 || command.optionNames.contains("--data")
                ? [("DIR (--data)", "Accounts, nodes, keys and certificates. Without the option, a temporary folder.")]
                : []
        case .firmwareSim: [("LINK (--console)", "A symbolic link to the board's pseudo-terminal.")]
        }
    }

    private static let folders: [Entry] = [
        ("~/.config/rainkit", "Your settings, deployments and definitions."),
        ("~/.local/state/rainkit", "Accounts, sessions and unfinished mappings. Only you can read them."),
    ]

    private static let files: [Entry] = [
        (
            ".rainkit.json",
            "A project's deployment and account. If the working folder has no such file, the nearest parent folder's file counts."
        ),
        ("~/.config/rainkit/config.json", "Your settings: the store of sessions, and the certificates to trust."),
        ("/etc/xdg/rainkit/config.json", "The machine's settings."),
        ("~/.config/rainkit/deployments.json", "The deployments that rainctl profile add has added."),
        ("~/.config/rainkit/providers", "Your definitions of identity providers."),
        ("~/.config/rainkit/backends/PROVIDER.json", "Your own cloud, for the users of a provider."),
        ("~/.local/state/rainkit", "Accounts, sessions and unfinished mappings. Only you can read them."),
    ]

    var seeAlso: [String] {
        switch self {
        case .rainctl: []
        case .cloudSim: ["firmware-sim", "rainctl"]
        case .firmwareSim: ["cloud-sim", "rainctl"]
        }
    }
}
