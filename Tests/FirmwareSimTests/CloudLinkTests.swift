// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import RainJSON
import TestSupport
import Testing

@testable import firmware_sim

@Suite("The node's connection to the cloud")
struct CloudLinkTests {
    @Test(
        "a message is ignored if it is not an object, too long, or not for the board",
        arguments: ["", "[]", "{", "7", #"{"Light":"# + String(repeating: " ", count: RemoteParameters.limit) + "{}}"])
    func unreadable(message: String) {
        #expect(NodeParameters.Change(message: Array(message.utf8)) == nil)
    }

    @Test(
        "values of other names and types are left out",
        arguments: ["{}", #"{"Fan":{"Power":true}}"#, #"{"Light":{"Power":1,"Name":null,"Hue":3}}"#, #"{"Light":[]}"#])
    func others(message: String) {
        #expect(NodeParameters.Change(message: Array(message.utf8)) == NodeParameters.Change())
    }
}
