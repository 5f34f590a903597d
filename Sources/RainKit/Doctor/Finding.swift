// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainPrivateFiles

/// The result of one check of ``Checkup``.
public struct Finding: Sendable, Equatable {
    /// How bad it is. `warn` stops some transports or some calls from working; `fail` stops provisioning.
    public enum State: String, Sendable { case ok, warn, fail }

    /// What fixes it.
    public enum Fix: Sendable, Equatable {
        /// A command for a shell. It may need other rights, or a look by a person first.
        case command(String)
        /// A program and its arguments that need no other rights than the user's, and lose nothing. A caller may run them.
        case program([String])
        /// Something that the user does in the program that shows the finding.
        case remedy(Remedy)
    }

    /// The check, such as `ports`: a word of `docs/doctor.md`.
    public var check: String
    /// How bad it is.
    public var state: State
    /// The kind of problem, in snake case (`docs/doctor.md`); `ok` if there is none.
    public var reason: String
    /// One or two sentences for a person. Never holds a secret.
    public var message: String
    /// What fixes it, if that is known.
    public var fix: Fix?
    /// What the caller can change besides, such as its own option, as `RainKitError.remedies` has it.
    public var remedies: [Remedy] = []
    /// The name that the user of the finding signs in with, if there is one and it is known.
    public var user: String?
    /// Replaces the message if the cloud itself has a problem. The finding is `ok` then: one cause is reported once.
    var messageWithoutCloud: String?

    public init(check: String, state: State, reason: String, message: String, fix: Fix? = nil, user: String? = nil) {
        self.check = check
        self.state = state
        self.reason = reason
        self.message = message
        self.fix = fix
        self.user = user
    }

    package static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, state: .ok, reason: "ok", message: message)
    }

    package static func warn(_ check: String, _ reason: String, _ message: String, fix: Fix? = nil) -> Finding {
        Finding(check: check, state: .warn, reason: reason, message: message, fix: fix)
    }

    package static func fail(_ check: String, _ reason: String, _ message: String, fix: Fix? = nil) -> Finding {
        Finding(check: check, state: .fail, reason: reason, message: message, fix: fix)
    }

    var blamedOnCloud: Finding { messageWithoutCloud.map { .ok(check, $0) } ?? self }
}

/// The commands that make a file or a folder usable again.
extension Finding {
    /// The same finding about a file that only its owner may read, with the command that opens it to the owner again.
    /// - Parameter fix: for a file whose content is damaged.
    package func mended(privateFile path: String, else fix: Fix?) -> Finding {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = String(path[..<slash])
        do throws(PrivateFileError) {
            _ = try PrivateFolder.open(folder, create: false)?
                .read(String(path[slash...].dropFirst()), maximumBytes: 1 << 20)
            return fixed(by: fix)
        } catch {
            switch error.code {
            case .openFolder where Self.isOwn(folder, S_IFDIR): return fixed(by: .program(["chmod", "700", folder]))
            case .openFolder: return fixed(by: .command("sudo chown \"$USER\" \(folder.asShellWord)"))
            case .notPrivate where Self.othersMayWrite(path):
                // Text that others may have written must not count without a look at it.
                return fixed(by: .command("chmod 600 \(path.asShellWord)"))
            case .notPrivate where Self.isOwn(path, S_IFREG), .unreadable where Self.isOwn(path, S_IFREG):
                return fixed(by: .program(["chmod", "600", path]))
            case .symbolicLink: return fixed(by: .command("rm \(error.path.asShellWord)"))
            case .notPrivate, .unreadable: return fixed(by: fix ?? .command("sudo chown \"$USER\" \(path.asShellWord)"))
            default: return fixed(by: fix)
            }
        }
    }

    func fixed(by fix: Fix?) -> Finding {
        var finding = self
        finding.fix = fix
        return finding
    }

    /// Moves a damaged file away, so that it can still be repaired by hand. Nil for a file of another user: others may need it at its
    /// place.
    package static func movingAway(_ path: String) -> Fix? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_uid == geteuid() else { return nil }
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let sudo = access(folder, W_OK) == 0 ? "" : "sudo "
        return .command("\(sudo)mv \(path.asShellWord) \("\(path).damaged".asShellWord)")
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
