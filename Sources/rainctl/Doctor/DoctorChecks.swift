// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore
import RainIO
import RainKit
import RainMaker

/// The checks of `rainctl doctor`: those of ``Checkup``, and checks of rainctl's own settings, options and variables.
struct DoctorChecks: Sendable {
    let context: Context
    /// The time for all checks.
    let limit: Duration
    /// Settings that cannot be used. Other commands fail because of them.
    let obstacles: [Obstacle]

    struct Obstacle: Sendable {
        /// The file of settings; nil if there is no home.
        let path: String?
        let message: String
    }

    private var lacksHome: Bool { obstacles.contains { $0.path == nil } }

    /// The findings in the order of the checks.
    func run() async -> [Finding] {
        // Before the other checks use descriptors and threads, because this one counts them.
        let environment = environment()
        let (deployment, profile) = deployment()
        let client = client(at: deployment)
        var checkup = Checkup(client, within: limit)
        checkup.programEnvironment = context.environmentOfPrograms
        checkup.checks.subtract([.environment])
        // An unknown deployment cannot be asked.
        if deployment == nil { checkup.checks.subtract([.profile, .session, .cloud]) }
        // There is no place for sessions, or no server is trusted. Other checks report that.
        if lacksHome || (try? context.client()) == nil { checkup.checks.remove(.session) }
        checkup.folders =
            lacksHome
            ? []
            : [
                Checkup.Folder(path: context.folders.state, variable: "XDG_STATE_HOME", fallback: ".local/state"),
                Checkup.Folder(path: context.folders.configuration, variable: "XDG_CONFIG_HOME", fallback: ".config"),
            ]
        let findings = await checkup.run()
        // Our own scan must not count as another program's in the next run.
        await client.close()
        let isOfFiles = { (finding: Finding) in finding.check == "files" }
        return environment + files(findings.filter(isOfFiles)) + profile
            + findings.filter { !isOfFiles($0) }.map { $0.reason == "not_signed_in" ? named($0) : $0 }
    }

    /// The client for the current account, or only for boards if the deployment is unknown.
    private func client(at deployment: Deployment?) -> RainKitClient {
        guard let deployment else { return context.boardClient() }
        var configuration = context.boardClient().configuration
        configuration.deployment = deployment
        configuration.certificateAuthorities = context.certificateAuthorities
        configuration.account = context.accountName
        configuration.definitions = context.providerDefinitions.path
        return RainKitClient(configuration)
    }
}

/// The checks of variables, options and the process.
extension DoctorChecks {
    /// Checks the environment before any server is asked.
    func environment() -> [Finding] {
        var findings: [Finding] = []
        for variable in SecretVariable.allCases where context.environment[variable.rawValue]?.isEmpty == true {
            findings.append(
                .warn(
                    "environment", "empty_secret", "\(variable.rawValue) is set but empty, which counts as not set.",
                    fix: .command("unset \(variable.rawValue)")))
        }
        for name in context.folders.ignored {
            findings.append(
                .warn(
                    "environment", "relative_folder",
                    "\(name) is not used: it is not an absolute path.", fix: .command("unset \(name)")))
        }
        let authorities = Checkup.unreadableAuthorities(
            context.variable("RAINKIT_CA_FILE") ?? "", from: "RAINKIT_CA_FILE")
        if let authorities { findings.append(authorities) }
        findings += Checkup.environment(context.environment).filter { $0.state != .ok }
        if let path = context.options.caFile, access(path, R_OK) != 0 {
            findings.append(
                .fail(
                    "environment", "no_ca_file", "--ca-file names \(path.onOneLine), which cannot be read.",
                    fix: .command("ls -l \(path.asShellWord)")))
        }
        if let root = context.variable("RAINKIT_SYSTEM_ROOT"), access("\(root)/dev", R_OK) != 0 {
            findings.append(
                .fail(
                    "environment", "no_system_root",
                    "RAINKIT_SYSTEM_ROOT names \(root.onOneLine), but this folder has no subfolder dev with the serial ports.",
                    fix: .command("unset RAINKIT_SYSTEM_ROOT")))
        }
        if let name = context.variable("RAINKIT_PROVIDER"), name != "rainmaker" {
            findings.append(
                .warn(
                    "environment", "other_provider",
                    "RAINKIT_PROVIDER names \(name.onOneLine), so commands for RainMaker's boards are refused.",
                    fix: .command("unset RAINKIT_PROVIDER")))
        }
        if let finding = unknownStore() { findings.append(finding) }
        if let lack = Resources.lack {
            findings.append(
                .fail(
                    "environment", lack.reason, lack.message,
                    fix: lack.reason == "no_descriptors" ? .command("ulimit -n 1024") : nil))
        }
        return findings.isEmpty ? [.ok("environment", "Environment variables: OK.")] : findings
    }

    /// Only a sign-in uses the store, so no other check looks at it.
    private func unknownStore() -> Finding? {
        let variable = context.variable("RAINKIT_STORE")
        let given = context.settings[.store]
        guard let name = variable ?? given?.text, StoreOptions.Name(rawValue: name) == nil else { return nil }
        let names = StoreOptions.Name.allCases.map(\.rawValue).joined(separator: ", ")
        let (place, fix): (String, Finding.Fix?) =
            if variable == nil, let given {
                ("store in \(given.path.onOneLine)", Finding.movingAway(given.path))
            } else {
                ("RAINKIT_STORE", .command("unset RAINKIT_STORE"))
            }
        return .warn(
            "environment", "unknown_store",
            "\(place) is \"\(name.onOneLine)\", but must be one of \(names), so signing in fails.", fix: fix)
    }
}

/// The checks of settings files.
extension DoctorChecks {
    /// - Parameter folders: the findings about their folders.
    private func files(_ folders: [Finding]) -> [Finding] {
        // A repair may have changed the file since the settings were read.
        let ignored = context.settings.ignored.filter { !SettingsFiles.isOwn($0) }
        let findings =
            obstacles.map { finding(about: $0) } + folders.filter { $0.state != .ok }
            + ignored.map { Self.finding(aboutIgnored: $0) }
        return findings.isEmpty ? folders : findings
    }

    private func finding(about obstacle: Obstacle) -> Finding {
        guard let path = obstacle.path else {
            return .fail(
                "files", "no_home", obstacle.message,
                fix: .command(#"export HOME="$(getent passwd "$(id -u)" | cut -d: -f6)""#))
        }
        return .fail("files", "unreadable_settings", obstacle.message, fix: Finding.movingAway(path))
    }

    /// A project's ignored file, which may come from somebody else. Its command is only printed, because running it would make text of
    /// others take effect.
    static func finding(aboutIgnored path: String) -> Finding {
        let name = path.onOneLine
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return .warn("files", "ignored_settings", "\(name) is ignored: it is not a plain file.")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            return .warn("files", "ignored_settings", "\(name) is ignored: it belongs to another user.")
        }
        let command = "chmod go-w \(path.asShellWord)"
        return .warn(
            "files", "ignored_settings",
            "\(name) is ignored: other users may write to it. Check its content before you use it.",
            fix: .command(status.st_uid == geteuid() ? command : "sudo \(command)"))
    }
}

/// The checks of the profile and the account from options, variables and files.
extension DoctorChecks {
    /// Returns the current deployment, or a finding that explains why there is none.
    private func deployment() -> (Deployment?, [Finding]) {
        do throws(AccountError) {
            return (try context.deployment(), [])
        } catch {
            // The check of the files reports this.
            let home = HomeFolder(context.environment)
            return (nil, home.keepsAway(context.folders.configuration) ? [] : [unusable(error)])
        }
    }

    private func unusable(_ error: AccountError) -> Finding {
        guard error.remedies.contains(.knownDeployment) else {
            let path = context.deploymentFile.path
            return Finding.fail("profile", "unreadable_profiles", error.message.asSentence)
                .mended(privateFile: path, else: Finding.movingAway(path))
        }
        var fix = "rainctl profile list"
        if let content = try? context.deploymentFile.load() {
            let origin = ProfileSettings.chosen(context, content).origin
            switch origin {
            case .variable(let name): fix = "unset \(name)"
            case .file(context.deploymentFile.path): fix = "rainctl profile use global"
            default: break
            }
        }
        return .fail("profile", "unknown_profile", error.message.asSentence, fix: .command(fix))
    }

    /// The finding that an account is not signed in, with the origin of its name.
    private func named(_ finding: Finding) -> Finding {
        var finding = finding
        guard let (name, origin) = ProfileSettings.namedAccount(context) else {
            finding.message +=
                " If you have no account, run: \(GivenOptions(context.options).line("account signup USER")). rainctl provision also "
                + "lets you sign in or sign up."
            return finding
        }
        finding.message += " The name comes from: \(origin)."
        let others = (try? context.accounts.known.load().entries(at: context.deployment().name)) ?? []
        if case .variable(let variable) = origin, others.contains(where: { $0.name != name }) {
            finding.fix = .command("unset \(variable)")
        }
        return finding
    }
}
