// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import RainQRCode

extension RainKitClient {
    /// Checks this machine, its boards, the account and the cloud, all at once, and changes nothing but a session that is due to be renewed.
    ///
    /// ```swift
    /// for finding in await kit.checkup() where finding.state != .ok { print(finding.message) }
    /// ```
    ///
    /// - Parameter limit: the time for all checks. A check that has no answer by then has the reason `no_answer`.
    /// - Returns: the findings in the order of ``Checkup/Check``.
    public func checkup(within limit: Duration = .seconds(6)) async -> [Finding] {
        await Checkup(self, within: limit).run()
    }
}

/// Checks everything on this machine that boards and accounts need.
///
/// A finding without a problem has the state `ok`. A problem comes with what fixes it, where that is known: see ``Finding``. Programs that have
/// checks of their own, such as of their settings, put these in front of the findings.
public struct Checkup: Sendable {
    /// The checks, in the order of their findings.
    public enum Check: String, CaseIterable, Sendable {
        /// The files of certificates that the environment names for all programs.
        case environment
        /// The folders for sessions and settings.
        case files
        /// The deployment, and whether it has a claim service.
        case profile
        /// The session of the account in use, here and at the cloud.
        case session
        /// The cloud, its claim service and this machine's clock. Findings have the checks `cloud`, `clock` and `claim`.
        case cloud
        /// Serial ports that may have boards. None is opened, because that would restart some boards.
        case ports
        /// BlueZ, its adapter, and other programs that scan.
        case bluetooth
        /// NetworkManager, which joins the networks of boards.
        case wifi
        /// Avahi, which finds boards that are on the network.
        case network
        /// The libraries that draw and read QR codes.
        case qr
    }

    /// A folder in which a program keeps files.
    public struct Folder: Sendable, Equatable {
        /// Its absolute path.
        public var path: String
        /// The variable that names the folder above it, such as `XDG_STATE_HOME`; nil if no variable does.
        public var variable: String?
        /// The folder below HOME that is used if the variable is not set, such as `.local/state`.
        public var fallback: String?

        public init(path: String, variable: String? = nil, fallback: String? = nil) {
            self.path = path
            self.variable = variable
            self.fallback = fallback
        }
    }

    /// The client whose deployment, account and transports are checked.
    public let client: RainKitClient
    /// The checks to run; all by default. Those of transports that the client does not have are left out.
    public var checks = Set(Check.allCases)
    /// The folders that ``Check/files`` looks at, the folder for sessions first; by default the client's folder.
    public var folders: [Folder]
    /// The variables of programs that are started. If nil, those of the client's configuration without the variables that hold clients'
    /// secrets.
    public var programEnvironment: [String: String]?
    /// The time for all checks.
    public var limit: Duration

    /// - Parameter limit: the time for all checks. A check that has no answer by then has the reason `no_answer`.
    public init(_ client: RainKitClient, within limit: Duration = .seconds(6)) {
        self.client = client
        self.limit = limit
        folders = client.configuration.keepsFiles ? [Folder(path: client.configuration.state)] : []
    }

    /// The time for one answer from elsewhere. Enough time is left to report that it did not come.
    var answerLimit: Duration { limit * 5 / 6 }

    /// Read again in each run, because a repair may have changed it.
    var home: HomeFolder { HomeFolder(client.configuration.environment) }

    private static let all: [(check: Check, run: @Sendable (Checkup) async -> [Finding])] = [
        (.environment, { environment($0.client.configuration.environment) }), (.files, { $0.files() }),
        (.profile, { $0.profile() }), (.session, { await $0.session() }), (.cloud, { await $0.cloud() }),
        (.ports, { await $0.ports() }), (.bluetooth, { await $0.bluetooth() }), (.wifi, { await $0.wifi() }),
        (.network, { await $0.onNetwork() }), (.qr, { _ in qrLibraries() }),
    ]

    /// Runs the checks, all at once.
    ///
    /// It does not throw: a check that cannot be made is a finding. A cancelled run returns what was found until then.
    /// A search for boards by this process counts as one of another program if it runs at the same time.
    /// - Returns: the findings in the order of the checks.
    public func run() async -> [Finding] {
        let chosen = Self.all.filter { checks.contains($0.check) }
        let found = await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, check) in chosen.enumerated() {
                group.addTask { (index, await findings(of: check.check, check.run)) }
            }
            var all = [[Finding]](repeating: [], count: chosen.count)
            for await (index, findings) in group { all[index] = findings }
            return all.flatMap { $0 }
        }
        let isCloudTroubled = found.contains { $0.check == "cloud" && $0.state != .ok }
        return isCloudTroubled ? found.map(\.blamedOnCloud) : found
    }

    /// Findings of a check that was cancelled are only consequences of that.
    private func findings(
        of check: Check, _ run: @escaping @Sendable (Checkup) async -> [Finding]
    ) async -> [Finding] {
        let outcome = await answer(within: limit) { () async throws(CancellationError) in
            let findings = await run(self)
            if Task.isCancelled { throw CancellationError() }
            return findings
        }
        switch outcome {
        case .success(let findings)?: return findings
        case .failure?: return []
        case nil:
            let milliseconds = limit / .milliseconds(1)
            let time = milliseconds >= 1000 ? "\(Int(milliseconds / 1000)) s" : "\(Int(milliseconds)) ms"
            return [.warn(check.rawValue, "no_answer", "There was no answer within \(time).")]
        }
    }

    /// Nil if there is none in time.
    func answer<Answer: Sendable, Failure: Error>(
        within limit: Duration, _ question: @escaping @Sendable () async throws(Failure) -> Answer
    ) async -> Result<Answer, Failure>? {
        let timer = client.configuration.tools.timer
        return await withDeadline(limit, sleep: { try await timer.sleep(for: $0) }, question)
    }

    /// A variable of the environment that is not empty.
    func variable(_ name: String) -> String? {
        client.configuration.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension Checkup {
    /// Checks the variables that name files of certificates for all programs. It needs no client, no threads and no time.
    public static func environment(_ variables: [String: String]) -> [Finding] {
        let findings = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].compactMap {
            unreadableAuthorities(variables[$0] ?? "", from: $0)
        }
        return findings.isEmpty ? [.ok("environment", "Environment variables: OK.")] : findings
    }

    /// - Parameter variable: names the file.
    package static func unreadableAuthorities(_ path: String, from variable: String) -> Finding? {
        guard !path.isEmpty, access(path, R_OK) != 0 else { return nil }
        return .fail(
            "environment", "no_ca_file",
            "\(variable) is set to \(path.onOneLine). This file or folder cannot be read, so no server is trusted.",
            fix: .command("unset \(variable)"))
    }

    private static func qrLibraries() -> [Finding] {
        let missing = QRScanner.missingPackages
        guard missing.isEmpty else {
            return [
                .warn(
                    "qr", "no_library",
                    "QR codes cannot be drawn, or read from pictures, without \(missing.joined(separator: " and ")).",
                    fix: .command("sudo apt install \(missing.joined(separator: " "))"))
            ]
        }
        return [.ok("qr", "QR codes can be drawn and read.")]
    }
}
