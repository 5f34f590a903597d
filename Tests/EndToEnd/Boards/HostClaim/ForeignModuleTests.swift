// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

/// The folder in which rainctl is started may be anyone's work: a checkout, a download.
@Suite("Programs and modules in the working folder")
struct ForeignModuleTests {
    /// A folder in which each program and module that could be mistaken for ours leaves a mark.
    private func withForeignFolder(_ body: (Maker) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for name in ["project/cryptography", "project/tools", "modules"] { try folder.makeFolder(name) }
            let mark = folder.file("loaded")
            for name in [
                "esptool", "esp_idf_nvs_partition_gen", "cryptography/__init__", "json", "random", "sitecustomize",
            ] {
                try folder.write("open('\(mark)', 'a').write('\(name) ')\n", to: "project/\(name).py")
            }
            for name in ["python3", "curl", "bluetoothctl", "date", "tools/python3"] {
                try folder.write("#!/bin/sh\necho '\(name)' >>'\(mark)'\n", to: "project/\(name)")
                #expect(chmod(folder.file("project/\(name)"), 0o755) == 0)
            }
            try folder.write("[esptool]\nport = /nonexistent\n", to: "project/esptool.cfg")
            // The user's own: a generator that writes an image of the right size, and notes where it ran.
            try folder.write("", to: "modules/esptool.py")
            try folder.write(
                """
                import json, os, random, sys
                open('\(folder.file("ran"))', 'a').write(os.getcwd() + '\\n')
                open(sys.argv[3], 'wb').write(bytes(int(sys.argv[4], 16)))

                """, to: "modules/esp_idf_nvs_partition_gen.py")
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud, claims: true)
            try await body(maker)
            withExtendedLifetime(cloud) {}
        }
    }

    @Test(
        "claiming by the host loads no program and no module from the working folder",
        arguments: [
            [:], ["PATH": ":/usr/bin:/bin"], ["PATH": "/usr/bin:/bin:"], ["PATH": ".:/usr/bin:/bin"],
            ["PATH": "tools:/usr/bin:/bin"], ["PYTHONPATH": ":MODULES"], ["PYTHONPATH": ".:MODULES"],
            ["PYTHONPATH": "MODULES:"], ["PYTHONPATH": "../project:MODULES", "PATH": ".:./tools:/usr/bin:/bin"],
        ])
    func claim(more: [String: String]) async throws {
        try await withForeignFolder { maker in
            let modules = maker.folder.file("modules")
            let own = more.mapValues { $0.replacing("MODULES", with: modules) }
            let ended = try await run(
                Executables.path("rainctl"),
                ["device", "claim", "--host", "--mac", "7CDFA1000042", "--image", "image.bin", "--json"],
                environment: maker.environment.merging(["PYTHONPATH": modules]) { $1 }.merging(own) { $1 },
                directory: maker.folder.file("project"))
            #expect(ended.status == .exited(0), "\(ended.standardOutput)\(ended.standardError)")
            #expect(access(maker.folder.file("loaded"), F_OK) != 0, "\((try? maker.folder.read("loaded")) ?? "")")
            // The trial and the real image, both where nobody else can write.
            let folders = try maker.folder.read("ran").split(separator: "\n")
            #expect(folders.count == 2, "\(folders)")
            for folder in folders { #expect(folder.hasPrefix(maker.folder.file("state/rainkit/claims/run-"))) }
            #expect(access(maker.folder.file("project/image.bin"), F_OK) == 0, "a relative path is the caller's")
        }
    }

    @Test("doctor and account curl start no program of the working folder", arguments: [".", "", "tools"])
    func others(entry: String) async throws {
        try await withForeignFolder { maker in
            for (arguments, statuses) in [
                (["doctor", "--timeout", "60s"], [0, 1]), (["account", "curl", "--", "/v1/user2"], [0]),
            ] {
                let ended = try await run(
                    Executables.path("rainctl"), arguments,
                    environment: maker.environment.merging(["PATH": "\(entry):/usr/bin:/bin"]) { $1 },
                    directory: maker.folder.file("project"))
                #expect(statuses.contains { ended.status == .exited($0) }, "\(arguments): \(ended.standardError)")
                #expect(!ended.standardOutput.isEmpty, "\(arguments)")
            }
            #expect(access(maker.folder.file("loaded"), F_OK) != 0, "\((try? maker.folder.read("loaded")) ?? "")")
        }
    }
}
