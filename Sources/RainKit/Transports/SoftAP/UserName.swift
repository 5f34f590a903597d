// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The name of the user whom this process runs as.
enum UserName {
    /// Nil for one that has none.
    static var current: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return String(cString: entry.pw_name)
    }
}
