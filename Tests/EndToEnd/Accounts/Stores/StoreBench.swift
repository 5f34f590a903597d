// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainJSON
import TestSupport
import Testing

/// A maker who uses a cloud and is not signed in yet.
struct StoreBench {
    let maker: Maker
    let cloud: SimulatedCloud
    let folder: TemporaryFolder

    static func with(cloud arguments: [String] = [], _ body: (StoreBench) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(arguments: arguments, in: folder)
            try await maker.use(cloud)
            try await body(StoreBench(maker: maker, cloud: cloud, folder: folder))
        }
    }

    func logIn(_ more: [String] = [], environment: [String: String] = [:]) async throws -> Maker.Outcome {
        try await maker.rainctl(logInArguments + more + ["--json"], environment: environment)
    }

    var logInArguments: [String] {
        ["login", SimulatedCloud.user, "--password-file", folder.file("password")]
    }

    /// How often somebody tried to sign in.
    func signIns() throws -> Int { try cloud.journal.entries(where: ["path": "/v1/login2"]).count }

    /// The permissions of everything below the state folder that are not 0600 or, for folders, 0700.
    func wideOpen() throws -> [String] {
        let state = folder.file("state")
        return try (["."] + SecretHunt.entries(below: state)).compactMap { path in
            let full = "\(state)/\(path)"
            let expected = try SecretHunt.type(of: full) == .typeDirectory ? 0o700 : 0o600
            guard let mode = SecretHunt.mode(of: full), mode != expected else { return nil }
            return "\(path): \(String(mode, radix: 8))"
        }
    }
}
