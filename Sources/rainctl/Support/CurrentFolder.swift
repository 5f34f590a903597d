// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The process's working folder; nil if it is gone.
func currentFolder() -> String? {
    guard let text = getcwd(nil, 0) else { return nil }
    defer { free(text) }
    return String(cString: text)
}

/// The path for commands that run in another folder; nil for a relative one if the working folder is gone.
func absolutePath(_ path: String) -> String? {
    path.hasPrefix("/") ? path : currentFolder().map { "\($0)/\(path)" }
}
