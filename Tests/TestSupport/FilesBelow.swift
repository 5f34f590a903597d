// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The paths of everything below a folder, relative to it.
public func filesBelow(_ folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder)
}
