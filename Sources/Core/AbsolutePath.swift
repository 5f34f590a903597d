// SPDX-License-Identifier: Apache-2.0
import Glibc

extension String {
    /// The path from the root, of a path that may be relative to the process's working folder.
    package var absolutePath: String {
        guard !hasPrefix("/"), let folder = getcwd(nil, 0) else { return self }
        defer { free(folder) }
        return "\(String(cString: folder))/\(self)"
    }
}
