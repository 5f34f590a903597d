// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether this program runs in a container, by the files that Docker and Podman leave in each.
///
/// - Parameter fileExists: whether a path exists.
package func runsInContainer(fileExists: (String) -> Bool = { access($0, F_OK) == 0 }) -> Bool {
    ["/.dockerenv", "/run/.containerenv"].contains(where: fileExists)
}
