// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The package's modules as they are in the source tree: their imports and declarations. Nothing is built for it.
enum SourceTree {
    /// All modules of this package except the tests, as `Package.swift` declares them.
    static let modules: [Module] = {
        let manifest = (try? String(contentsOfFile: Repository.path("Package.swift"), encoding: .utf8)) ?? ""
        let targets = manifest.matches(of: /(?:target|tool)\(\s*"([^"]+)",\s*path:\s*"([^"]+)"/)
        return targets.map { Module(name: String($0.1), path: String($0.2)) }
            .filter { $0.name != "TestSupport" && $0.name != "fuzz" }
    }()

    /// The modules below a folder.
    static func names(below folder: String) -> Set<String> {
        Set(modules.filter { $0.path.hasPrefix(folder) }.map(\.name))
    }

    static func module(_ name: String) throws -> Module {
        guard let module = modules.first(where: { $0.name == name }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        return module
    }

    /// All Swift files below a folder, as paths from the repository's root.
    static func files(_ path: String) -> [String] {
        let below = (try? FileManager.default.subpathsOfDirectory(atPath: Repository.path(path))) ?? []
        return below.filter { $0.hasSuffix(".swift") }.map { "\(path)/\($0)" }.sorted()
    }

    static func lines(_ file: String) throws -> [Substring] {
        try String(contentsOfFile: Repository.path(file), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }
}
