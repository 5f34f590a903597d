// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Who may import whom: docs/internals/architecture.md, read from the sources.
@Suite("Walls")
struct WallTests {
    /// What a module on a floor may import besides its own floor. What is not listed imports nothing of ours.
    static let below: [String: [String]] = [
        "System": [], "Boards": ["System"], "Cloud": ["System"], "Simulators": ["System"],
        "firmware-sim": ["System", "Boards"], "Testing": ["System", "Boards", "Cloud", "firmware-sim"],
    ]
    /// Conformance suites of what stands above the floors.
    static let besides: [String: Set<String>] = ["RainKitTesting": ["RainOnboarding"]]
    /// The modules where boards and cloud meet, and what is made to test both.
    static let meetingPlaces: Set = ["RainOnboarding", "RainKit", "RainKitTesting"]
    /// What programs import from beneath RainKit: nothing, the front door carries all that they need.
    static let besideTheFrontDoor: [String: Set<String>] = ["rainctl": [], "fleet": []]

    @Test("the tree has modules on each floor, and their imports are found")
    func reading() throws {
        for floor in SourceTree.floors { #expect(!SourceTree.names(on: floor).isEmpty, "\(floor) is empty") }
        #expect(try SourceTree.module("RainOnboarding").imports().isSuperset(of: ["ESPProvisioning", "RainAccount"]))
        #expect(try SourceTree.module("RainKit").imports().contains("ProtocommBLE"))
    }

    @Test("arrows point down", arguments: SourceTree.modules.filter { below[$0.floor] != nil })
    func down(_ module: Module) throws {
        let allowed = try #require(Self.below[module.floor]) + [module.floor]
        let ours = Set(SourceTree.modules.map(\.name))
        let reachable = Set(allowed.flatMap { SourceTree.names(on: $0) }).union(Self.besides[module.name] ?? [])
        let up = try module.imports().intersection(ours).subtracting(reachable).sorted()
        #expect(up.isEmpty, "\(module.path) imports \(up), which its floor must not know")
    }

    @Test("nothing of the cloud imports anything of the boards, or the other way round")
    func wall() throws {
        let boards = SourceTree.names(on: "Boards"), cloud = SourceTree.names(on: "Cloud")
        for module in SourceTree.modules where boards.contains(module.name) {
            #expect(try module.imports().isDisjoint(with: cloud), "\(module) knows the cloud")
        }
        for module in SourceTree.modules where cloud.contains(module.name) {
            #expect(try module.imports().isDisjoint(with: boards), "\(module) knows boards")
        }
    }

    @Test("boards and cloud meet in RainOnboarding alone, and in what is built on it")
    func meeting() throws {
        let boards = SourceTree.names(on: "Boards"), cloud = SourceTree.names(on: "Cloud")
        for module in SourceTree.modules where !Self.meetingPlaces.contains(module.name) {
            let imports = try module.imports()
            #expect(imports.isDisjoint(with: boards) || imports.isDisjoint(with: cloud), "\(module) imports both")
        }
    }

    @Test("provisioning knows no transport, and nothing that one is made of")
    func transports() throws {
        let core: Set = ["Protocomm", "ProtocommSecurity", "ProtocommWire", "ESPProvisioning"]
        let others = SourceTree.names(on: "Boards").subtracting(core)
        let devices: Set = ["RainSerialPort", "RainDBus", "RainHTTP", "RainHTTPCurl"]
        for name in core {
            let known = try SourceTree.module(name).imports().intersection(others.union(devices)).sorted()
            #expect(known.isEmpty, "\(name) imports \(known)")
        }
    }

    @Test("programs reach boards and cloud through RainKit", arguments: ["rainctl", "fleet"])
    func frontDoor(program: String) throws {
        let beneath = SourceTree.names(on: "Boards").union(SourceTree.names(on: "Cloud"))
        let around = try SourceTree.module(program).imports().intersection(beneath)
        let known = try #require(Self.besideTheFrontDoor[program])
        #expect(around == known, "\(program) imports \(around.sorted()); the list above allows \(known.sorted())")
    }

    @Test("the folder of a module has its target's name, and lies on its target's floor")
    func names() throws {
        let manifest = try String(contentsOfFile: Repository.path("Package.swift"), encoding: .utf8)
            .filter { !$0.isWhitespace }
        for module in SourceTree.modules where module.path.hasPrefix("Sources/") {
            let floor = module.floor.isEmpty ? "top" : module.floor.lowercased()
            let library = "target(\"\(module.name)\",on:.\(floor),"
            let bare = "target(\"\(module.name)\",on:.\(floor))"
            let other = "(\"\(module.name)\",path:\"\(module.path)\""
            #expect(
                manifest.contains(library) || manifest.contains(bare) || manifest.contains(other),
                "\(module.path) is no target of that name")
        }
    }
}
