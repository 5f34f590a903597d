// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Finds programs by name in the folders of `PATH`, but never in the working folder.
///
/// An empty or relative entry of `PATH` means a folder that depends on where the process was started. In a checkout or a folder of
/// downloads, others may have put a program of any name. Such entries are ignored.
public struct ProgramSearch: Sendable, Equatable {
    /// The folders to search, in order. Each begins with `/`.
    public let folders: [String]

    /// - Parameter path: the variable `PATH`. If it is nil or names no folder that begins with `/`, the system's usual folders are
    ///   searched.
    public init(path: String?) {
        let absolute = (path ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
        folders = absolute.isEmpty ? ["/usr/local/bin", "/usr/bin", "/bin"] : absolute
    }

    /// `PATH` for the programs that this program starts.
    public var path: String { folders.joined(separator: ":") }

    /// Returns the file of a program, or nil if no such program can be run.
    ///
    /// - Parameter program: a name, or a path. A relative path contains a `/`. It is the user's own choice, and starts at the working
    ///   folder.
    public func file(of program: String) -> String? {
        guard program.contains("/") else {
            return program.isEmpty ? nil : folders.lazy.map { "\($0)/\(program)" }.first(where: Self.isProgram)
        }
        guard Self.isProgram(program) else { return nil }
        if program.hasPrefix("/") { return program }
        guard let folder = getcwd(nil, 0) else { return nil }
        defer { free(folder) }
        return "\(String(cString: folder))/\(program)"
    }

    /// Returns whether this is a file that can be run. Folders can have the "execute" permission too.
    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
