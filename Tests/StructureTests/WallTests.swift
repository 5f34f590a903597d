// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Checks which module may import which, by docs/internals/architecture.md.
@Suite("Imports between modules")
struct WallTests {
    /// Modules between a program and a board.
    static let boards: Set = ["ESPProvisioning", "Protocomm", "ProtocommCore", "ProtocommTransports"]
    /// Modules between a program and a cloud.
    static let cloud: Set = ["IdentityProviders", "RainAccount", "RainMaker"]
    /// Modules that also run on a board, in Embedded Swift.
    static let embedded: Set = ["DeviceCore", "ProtocommCore", "RainCrypto"]
    /// Programs. They name types of both sides that RainKit does not export.
    static let programs: Set = ["fleet", "rainctl"]
    /// The only libraries that may import both sides.
    static let both: Set = ["RainKit", "RainKitC", "RainKitTesting"]
    /// Modules that all others may use.
    static var base: Set<String> {
        SourceTree.names(below: "Sources/Platform/").union(["RainCore", "RainCrypto"])
    }

    @Test("the modules are found, and their imports")
    func reading() throws {
        let known = Self.boards.union(Self.cloud).union(Self.both).union(Self.embedded)
        #expect(Set(SourceTree.modules.map(\.name)).isSuperset(of: known))
        #expect(Self.base.isSuperset(of: ["RainJSON", "RainIO", "RainHTTP"]))
        #expect(try SourceTree.module("RainKit").imports().isSuperset(of: ["ESPProvisioning", "RainAccount"]))
    }

    @Test("the base imports nothing but the base", arguments: WallTests.base.sorted())
    func ofBase(name: String) throws {
        let ours = Set(SourceTree.modules.map(\.name))
        let up = try SourceTree.module(name).imports().intersection(ours).subtracting(Self.base).sorted()
        #expect(up.isEmpty, "\(name) imports \(up)")
    }

    @Test("the boards' side imports only itself and the base", arguments: WallTests.boards.sorted())
    func ofBoards(name: String) throws { try expect(name, within: Self.boards) }

    @Test("the cloud's side imports only itself and the base", arguments: WallTests.cloud.sorted())
    func ofCloud(name: String) throws { try expect(name, within: Self.cloud) }

    private func expect(_ name: String, within side: Set<String>) throws {
        let ours = Set(SourceTree.modules.map(\.name))
        let foreign = try SourceTree.module(name).imports().intersection(ours).subtracting(side)
            .subtracting(Self.base).sorted()
        #expect(foreign.isEmpty, "\(name) imports \(foreign)")
    }

    @Test("of the libraries, only RainKit and its tests' fakes import both sides")
    func meeting() throws {
        for module in SourceTree.modules where !Self.both.union(Self.programs).contains(module.name) {
            let imports = try module.imports()
            #expect(
                imports.isDisjoint(with: Self.boards) || imports.isDisjoint(with: Self.cloud),
                "\(module) imports both sides")
        }
    }

    @Test("the module for provisioning imports no transport")
    func transports() throws {
        let known: Set = ["ProtocommTransports", "RainDBus", "RainHTTP", "RainHTTPCurl"]
        for name in ["ESPProvisioning", "Protocomm", "ProtocommCore"] {
            let imports = try SourceTree.module(name).imports().intersection(known).sorted()
            #expect(imports.isEmpty, "\(name) imports \(imports)")
        }
    }

    @Test("modules that run on a board import only modules that also run there", arguments: WallTests.embedded.sorted())
    func ofEmbedded(name: String) throws {
        let foreign = try SourceTree.module(name).imports().subtracting(Self.embedded).sorted()
        #expect(foreign.isEmpty, "\(name) imports \(foreign)")
    }
}
