// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A maker with files, and a cloud that answers what a test wrote down.
enum AccountScene {
    static let user = SimulatedCloud.user
    static let code = "246813"

    static func run(
        _ answers: [String: [(status: Int, body: String)]] = [:], signedIn: Bool = false,
        _ body: (Maker, CannedCloud) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud(signedIn ? CannedCloud.signIn.merging(answers) { $1 } : answers)
            let maker = try await cloud.maker(in: folder, signedIn: signedIn)
            try folder.write(code + "\n", to: "code")
            try folder.write("New-Passw0rd-planted\n", to: "new-password")
            try folder.write("weakling", to: "weak")
            try await body(maker, cloud)
        }
    }

    /// The word after `--…-file` is a file of the maker's.
    static func withFiles(_ arguments: [String], _ maker: Maker) -> [String] {
        arguments.enumerated().map { index, word in
            index > 0 && arguments[index - 1].hasSuffix("-file") && !word.hasPrefix("/")
                ? maker.folder.file(word) : word
        }
    }
}

/// A command ended with that exit code, its name and the fine cause.
func expectFailure(
    _ outcome: Maker.Outcome, _ status: Int, _ code: String, _ reason: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(outcome.status == status, sourceLocation: sourceLocation)
    #expect(outcome.failure?["code"]?.string == code, sourceLocation: sourceLocation)
    #expect(outcome.failure?["exit"]?.integer == Int64(status), sourceLocation: sourceLocation)
    #expect(outcome.failure?["reason"]?.string == reason, sourceLocation: sourceLocation)
}
