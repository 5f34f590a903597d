// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many descriptors the process may have open: what a shell grants is enough for some hundred boards with their connections.
enum DescriptorLimit {
    /// Raises it to what the system allows at all. Where that fails it stays what it was, and boards that find none free try again.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
