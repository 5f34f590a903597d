// SPDX-License-Identifier: Apache-2.0
import Glibc

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
