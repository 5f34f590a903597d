// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("rainctl device claim: advice")
struct DeviceClaimAdviceTests {
    @Test("where the deployment has no claim service, the options that are named are of the commands that have them")
    func noService() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: false)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1"] + cloud.unclaimedBoardOptions, in: folder)
            let outcome = try await maker.rainctl(
                ["device", "claim"] + Maker.way(to: board) + ["--pop-file", folder.file("pop"), "--json"])
            outcome.expectFailure(17, "claim_needed", says: "rainctl profile set --claim-url URL PROFILE")
            outcome.expectFailure(17, "claim_needed", says: "set up only the Wi-Fi with rainctl provision --no-mapping")
        }
    }
}
