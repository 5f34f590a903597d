// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit

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
