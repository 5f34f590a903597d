// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainPrivateFiles

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
