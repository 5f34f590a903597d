// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import RainPrivateFiles

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
                    fix: "ls -l \(path.onOneLine)"))
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

    /// Where sessions and settings are kept: folders of this user's, that nobody else writes to, with room left.
    func files() -> [Finding] {
        var findings = obstacles.map { Self.finding(about: $0) }
        for folder in lacksHome ? [] : [context.folders.state, context.folders.configuration] {
            if let finding = Self.finding(about: folder) { findings.append(finding) }
        }
        return findings.isEmpty
            ? [.ok("files", "Sessions are kept in \(context.folders.state.onOneLine), which only you can read.")]
            : findings
    }

    private static func finding(about obstacle: Obstacle) -> Finding {
        guard let path = obstacle.path else {
            return .fail(
                "files", "no_home", obstacle.message,
                fix: #"export HOME="$(getent passwd "$(id -u)" | cut -d: -f6)""#)
        }
        return .fail("files", "unreadable_settings", obstacle.message, fix: Finding.movingAway(path))
    }

    private static func finding(about folder: String) -> Finding? {
        do throws(PrivateFileError) {
            _ = try PrivateFolder.open(folder, create: false)
        } catch {
            let path = folder.onOneLine
            switch error.code {
            case .openFolder:
                var status = stat()
                guard stat(folder, &status) == 0, status.st_uid == geteuid() else {
                    return .fail(
                        "files", "foreign_folder", "\(path) belongs to another user, so nothing is kept there.",
                        fix: "sudo chown -R \"$USER\" \(path)")
                }
                return Finding.fail("files", "open_folder", "Others may write to \(path), so nothing is kept there.")
                    .repaired(by: ["chmod", "700", folder])
            case .symbolicLink:
                return .fail(
                    "files", "symbolic_link", "\(path) is a symbolic link, which is not followed.",
                    fix: "rm \(path)")
            default: return .fail("files", "unreadable_folder", "\("\(error)".asSentence)", fix: "ls -ld \(path)")
            }
        }
        // The nearest folder that exists is where the others would be made.
        var place = folder
        while access(place, F_OK) != 0, let slash = place.lastIndex(of: "/"), slash > place.startIndex {
            place = String(place[..<slash])
        }
        guard access(place, W_OK) == 0 else {
            return .fail(
                "files", "read_only",
                "Nothing can be written to \(place.onOneLine): \(String(cString: strerror(errno))).",
                fix: "export XDG_STATE_HOME=$HOME/.local/state XDG_CONFIG_HOME=$HOME/.config")
        }
        var space = statvfs()
        if statvfs(place, &space) == 0, UInt(space.f_bavail) * UInt(space.f_frsize) < 4 << 20 {
            return .fail(
                "files", "disk_full", "The disk of \(place.onOneLine) is full.", fix: "df -h \(place.onOneLine)")
        }
        return nil
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
