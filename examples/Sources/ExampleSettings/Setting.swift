// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What an example is told by the environment, secrets too: `EXAMPLE_USER`, `EXAMPLE_PASSWORD` and so on. Your program has a place of its
/// own for that.
public func setting(_ name: String) -> String {
    guard let value = optionalSetting(name) else {
        print("Set EXAMPLE_\(name) in the environment: see examples/README.md")
        exit(64)
    }
    return value
}

/// Nil where it is not set.
public func optionalSetting(_ name: String) -> String? { getenv("EXAMPLE_\(name)").map { String(cString: $0) } }
