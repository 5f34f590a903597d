// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The package's modules as they lie in the tree: what each one imports and declares. Nothing is built for it.
enum SourceTree {
    static let floors = ["System", "Boards", "Cloud", "Testing", "Simulators"]

    /// Every module of ours but the tests.
    static let modules: [Module] = {
        var modules: [Module] = []
        for floor in floors {
            // System/C holds the module maps of the system's C libraries.
            for name in folders("Sources/\(floor)") where name != "C" {
                modules.append(Module(name: name, floor: floor, path: "Sources/\(floor)/\(name)"))
            }
        }
        for name in folders("Sources") where !floors.contains(name) {
            modules.append(Module(name: name, floor: "", path: "Sources/\(name)"))
        }
        return modules + [
            Module(name: "DeviceCore", floor: "firmware-sim", path: "firmware-sim/DeviceCore"),
            Module(name: "firmware-sim", floor: "firmware-sim", path: "firmware-sim/Host"),
            Module(name: "EmbeddedProbe", floor: "firmware-sim", path: "firmware-sim/riscv32/Probe"),
            Module(name: "fleet", floor: "", path: "Tests/Fleet"),
        ]
    }()

    static func names(on floor: String) -> Set<String> {
        Set(modules.filter { $0.floor == floor }.map(\.name))
    }

    static func module(_ name: String) throws -> Module {
        guard let module = modules.first(where: { $0.name == name }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        return module
    }

    /// The folders directly in one of the repository's.
    static func folders(_ path: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: Repository.path(path))) ?? []
        return all.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: Repository.path("\(path)/\(name)"), isDirectory: &isFolder)
                && isFolder.boolValue && !name.hasPrefix(".")
        }.sorted()
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
