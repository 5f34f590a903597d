// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainPrivateFiles

/// What one check of `rainctl doctor` has found.
struct Finding: Encodable, Sendable, Equatable {
    /// `warn` keeps some ways to boards, or some commands, from working; `fail` keeps the main job from it.
    enum State: String, Encodable, Sendable { case ok, warn, fail }

    /// What was looked at: a word of docs/doctor.md.
    let check: String
    let state: State
    /// What is the matter, in snake case; `ok` where nothing is.
    let reason: String
    let message: String
    /// The one command that mends it.
    var fix: String?
    /// The same for `--fix`, where no other rights are needed than the user has.
    var repair: [String]?
    /// What is said instead, as nothing that is the matter, where the cloud itself is: one cause is told once.
    var messageWithoutCloud: String?

    private enum CodingKeys: String, CodingKey { case check, state, reason, message, fix }

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, state: .ok, reason: "ok", message: message)
    }

    static func warn(_ check: String, _ reason: String, _ message: String, fix: String? = nil) -> Finding {
        Finding(check: check, state: .warn, reason: reason, message: message, fix: fix)
    }

    static func fail(_ check: String, _ reason: String, _ message: String, fix: String? = nil) -> Finding {
        Finding(check: check, state: .fail, reason: reason, message: message, fix: fix)
    }

    var blamedOnCloud: Finding { messageWithoutCloud.map { .ok(check, $0) } ?? self }

    /// With a command that needs no rights, which is shown as well.
    func repaired(by words: [String]) -> Finding {
        var finding = self
        finding.fix = words.map(\.asShellWord).joined(separator: " ")
        finding.repair = words
        return finding
    }
}

/// The commands that let a file or a folder be used again.
extension Finding {
    /// For a file that only its owner may read: what opens it to the owner again, where that is what is wrong.
    /// - Parameter fix: for one whose content is damaged.
    func mended(privateFile path: String, else fix: String?) -> Finding {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = String(path[..<slash])
        do throws(PrivateFileError) {
            _ = try PrivateFolder.open(folder, create: false)?
                .read(String(path[slash...].dropFirst()), maximumBytes: 1 << 20)
            return fixed(by: fix)
        } catch {
            switch error.code {
            case .openFolder where Self.isOwn(folder, S_IFDIR): return repaired(by: ["chmod", "700", folder])
            case .openFolder: return fixed(by: "sudo chown \"$USER\" \(folder.asShellWord)")
            case .notPrivate where Self.othersMayWrite(path):
                // What others may have written must not count without a look at it.
                return fixed(by: "chmod 600 \(path.asShellWord)")
            case .notPrivate where Self.isOwn(path, S_IFREG), .unreadable where Self.isOwn(path, S_IFREG):
                return repaired(by: ["chmod", "600", path])
            case .symbolicLink: return fixed(by: "rm \(error.path.asShellWord)")
            case .notPrivate, .unreadable: return fixed(by: fix ?? "sudo chown \"$USER\" \(path.asShellWord)")
            default: return fixed(by: fix)
            }
        }
    }

    func fixed(by command: String?) -> Finding {
        var finding = self
        finding.fix = command
        return finding
    }

    /// What is damaged may still be mended by hand: it is moved away, and not lost. Nil for what is not this user's: others may need it
    /// where it is.
    static func movingAway(_ path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_uid == geteuid() else { return nil }
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        return "\(access(folder, W_OK) == 0 ? "" : "sudo ")mv \(path.asShellWord) \("\(path).damaged".asShellWord)"
    }

    private static func othersMayWrite(_ path: String) -> Bool {
        var status = stat()
        return isOwn(path, S_IFREG) && lstat(path, &status) == 0 && status.st_mode & 0o022 != 0
    }

    private static func isOwn(_ path: String, _ kind: mode_t) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == kind && status.st_uid == geteuid()
    }
}
