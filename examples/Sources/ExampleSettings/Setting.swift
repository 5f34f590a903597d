// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Returns a setting of an example, secrets too, from the environment: `EXAMPLE_USER`, `EXAMPLE_PASSWORD` and so on. Your program has
/// its own place for settings.
public func setting(_ name: String) -> String {
    guard let value = optionalSetting(name) else {
        print("Set EXAMPLE_\(name) in the environment: see examples/README.md")
        exit(64)
    }
    return value
}

/// Returns a setting, or nil if it is not set.
public func optionalSetting(_ name: String) -> String? { getenv("EXAMPLE_\(name)").map { String(cString: $0) } }
