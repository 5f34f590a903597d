// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("rainctl: values on the command line")
struct GivenValueTests {
    @Test(
        "two values for the same parameter, or a text that is not a value, are refused before any request",
        arguments: [
            ["node", "params", "set", "n1"], ["node", "schedule", "add", "n1", "--name", "x", "--at", "07:30"],
            ["node", "scene", "add", "n1", "--name", "x"],
            ["device", "params", "set", "--transport", "softap", "--device-host", "127.0.0.1:9"],
        ])
    func refused(command: [String]) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let twice = try await maker.rainctl(command + ["Light.Power=on", "Light.Power=off", "--json"])
            twice.expectFailure(64, "usage", says: "Light.Power is given twice")
            let other = try await maker.rainctl(command + ["Light.Power=on", "Light.Level=7", "--json"])
            #expect(other.status != 64, "\(other.standardOutput)")
            let bare = try await maker.rainctl(command + ["Light.Power", "--json"])
            bare.expectFailure(64, "usage", says: "DEVICE.PARAM=VALUE")
        }
    }
}
