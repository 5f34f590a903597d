// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import RainKit

/// Looks at everything on this machine that boards and accounts need, all at once, and changes nothing.
struct Checkup: Sendable {
    let context: Context
    /// No check may take longer; what has not answered by then is what is wrong.
    let limit: Duration
    /// What of the settings cannot be used, and other commands end at.
    let obstacles: [Obstacle]

    struct Obstacle: Sendable {
        /// The file of settings; nil where there is no home.
        let path: String?
        let message: String
    }

    /// For one answer from elsewhere. There is time left then to say who was silent.
    var answerLimit: Duration { limit * 5 / 6 }

    /// Asked anew in each run, as a repair may have changed it.
    var home: HomeFolder { HomeFolder(context.environment) }

    var lacksHome: Bool { obstacles.contains { $0.path == nil } }

    private typealias Check = @Sendable (Checkup) async -> [Finding]

    private static let checks: [(name: String, run: Check)] = [
        ("files", { $0.files() }), ("profile", { $0.profile() }), ("session", { await $0.session() }),
        ("cloud", { await $0.cloud() }), ("ports", { await $0.ports() }), ("bluetooth", { await $0.bluetooth() }),
        ("wifi", { await $0.wifi() }), ("network", { await $0.onNetwork() }), ("qr", { $0.qrLibraries() }),
    ]

    /// The findings in the order of the checks.
    func run() async -> [Finding] {
        // Before the others take descriptors and threads, which it looks for.
        let environment = environment()
        let others = await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, check) in Self.checks.enumerated() {
                group.addTask { (index, await findings(of: check.name, check.run)) }
            }
            var all = [[Finding]](repeating: [], count: Self.checks.count)
            for await (index, findings) in group { all[index] = findings }
            return all.flatMap { $0 }
        }
        // A scan of ours is none of another program's in the next look.
        await context.boardClient().close()
        let isCloudTroubled = others.contains { $0.check == "cloud" && $0.state != .ok }
        return environment + others.map { isCloudTroubled ? $0.blamedOnCloud : $0 }
    }

    /// What a check that was cancelled has found is only that.
    private func findings(of name: String, _ check: @escaping Check) async -> [Finding] {
        let outcome = await answer(within: limit) { () async throws(CancellationError) in
            let findings = await check(self)
            if Task.isCancelled { throw CancellationError() }
            return findings
        }
        switch outcome {
        case .success(let findings)?: return findings
        case .failure?: return []
        case nil:
            let time = DurationArgument(limit).defaultValueDescription
            return [.warn(name, "no_answer", "There was no answer within \(time).")]
        }
    }

    /// Nil where there is none in time.
    func answer<Answer: Sendable, Failure: Error>(
        within limit: Duration, _ question: @escaping @Sendable () async throws(Failure) -> Answer
    ) async -> Result<Answer, Failure>? {
        await withDeadline(limit, sleep: { try await Task.sleep(for: $0) }, question)
    }
}

/// What a command takes of the machine before it asks anybody.
extension Checkup {
    func environment() -> [Finding] {
        var findings: [Finding] = []
        for variable in SecretVariable.allCases where context.environment[variable.rawValue]?.isEmpty == true {
            findings.append(
                .warn(
                    "environment", "empty_secret", "\(variable.rawValue) is set and empty, which counts as not given.",
                    fix: "unset \(variable.rawValue)"))
        }
        for name in context.folders.ignored {
            findings.append(
                .warn(
                    "environment", "relative_folder",
                    "\(name) is not used: it is not an absolute path.", fix: "unset \(name)"))
        }
        for name in ["RAINKIT_CA_FILE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"] {
            guard let path = context.variable(name), access(path, R_OK) != 0 else { continue }
            findings.append(
                .fail(
                    "environment", "no_ca_file",
                    "\(name) names \(path.onOneLine), which cannot be read, so no server is trusted.",
                    fix: "unset \(name)"))
        }
        if let path = context.options.caFile, access(path, R_OK) != 0 {
            findings.append(
                .fail(
                    "environment", "no_ca_file", "--ca-file names \(path.onOneLine), which cannot be read.",
                    fix: "ls -l \(path.asShellWord)"))
        }
        if let root = context.variable("RAINKIT_SYSTEM_ROOT"), access("\(root)/dev", R_OK) != 0 {
            findings.append(
                .fail(
                    "environment", "no_system_root",
                    "RAINKIT_SYSTEM_ROOT names \(root.onOneLine), which has no dev: serial ports are looked for there.",
                    fix: "unset RAINKIT_SYSTEM_ROOT"))
        }
        if let name = context.variable("RAINKIT_PROVIDER"), name != "rainmaker" {
            findings.append(
                .warn(
                    "environment", "other_provider",
                    "RAINKIT_PROVIDER names \(name.onOneLine), so commands for RainMaker's boards are refused.",
                    fix: "unset RAINKIT_PROVIDER"))
        }
        if let finding = unknownStore() { findings.append(finding) }
        if let lack = Resources.lack {
            findings.append(
                .fail(
                    "environment", lack.reason, lack.message,
                    fix: lack.reason == "no_descriptors" ? "ulimit -n 1024" : nil))
        }
        return findings.isEmpty ? [.ok("environment", "Nothing in the environment is in the way.")] : findings
    }

    /// No sign-in goes by it, and nothing else looks at it.
    private func unknownStore() -> Finding? {
        let variable = context.variable("RAINKIT_STORE")
        let given = context.settings[.store]
        guard let name = variable ?? given?.text, StoreOptions.Name(rawValue: name) == nil else { return nil }
        let names = StoreOptions.Name.allCases.map(\.rawValue).joined(separator: ", ")
        let (place, fix) =
            if variable == nil, let given {
                ("store in \(given.path.onOneLine)", Finding.movingAway(given.path))
            } else {
                ("RAINKIT_STORE", "unset RAINKIT_STORE")
            }
        return .warn(
            "environment", "unknown_store",
            "\(place) is \"\(name.onOneLine)\", which is none of \(names), so nobody can sign in.", fix: fix)
    }

    func qrLibraries() -> [Finding] {
        let missing = QRScanner.missingPackages
        guard missing.isEmpty else {
            return [
                .warn(
                    "qr", "no_library",
                    "QR codes cannot be drawn, or read from pictures, without \(missing.joined(separator: " and ")).",
                    fix: "sudo apt install \(missing.joined(separator: " "))")
            ]
        }
        return [.ok("qr", "QR codes can be drawn and read.")]
    }
}

/// The folder that HOME names, held against who runs this and what the user database says of them.
struct HomeFolder: Sendable {
    /// Nil where HOME is not set, or is no absolute path.
    let path: String?
    /// The user whose folder it is, where that is somebody else: `sudo` and `su` may leave HOME as it was.
    let foreignOwner: String?
    /// What sets HOME to the home of the user database, where that is another one and can be written.
    let command: String?

    init(_ environment: [String: String]) {
        let path = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        self.path = path
        var status = stat()
        if let path, stat(path, &status) == 0, status.st_uid != geteuid() {
            foreignOwner = Self.entry(of: status.st_uid)?.name ?? "user \(status.st_uid)"
        } else {
            foreignOwner = nil
        }
        if let own = Self.entry(of: geteuid())?.home, own.hasPrefix("/"), own != path, access(own, W_OK | X_OK) == 0 {
            command = "export HOME=\(own.asShellWord)"
        } else {
            command = nil
        }
    }

    /// Whether a folder is out of reach because HOME is somebody else's.
    func keepsAway(_ folder: String) -> Bool {
        guard foreignOwner != nil, let path, folder.hasPrefix("\(path)/") else { return false }
        var status = stat()
        return lstat(folder, &status) != 0 || status.st_uid != geteuid()
    }

    private static func entry(of user: uid_t) -> (name: String, home: String)? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16384)
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let name = entry.pw_name, let home = entry.pw_dir
        else { return nil }
        return (String(cString: name), String(cString: home))
    }
}
