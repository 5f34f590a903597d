// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many descriptors the process may have open.
package enum DescriptorLimit {
    /// Raises the limit to what the system allows this process, and returns it. The limit of a shell is often 1,024.
    @discardableResult
    package static func raise() -> Int {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return 1024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(kind, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
