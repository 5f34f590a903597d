// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import Testing

@testable import rainctl

@Suite("The options that transports name")
struct TransportOptionsTests {
    @Test("each is an option of DeviceOptions, and its value is a part of the board's address")
    func reachesTheAddress() throws {
        for option in Set(Transports.registered.flatMap(\.options)) {
            let options = try DeviceOptions.parse(["--\(option.name)", "value"])
            #expect(options.place == [option.name: "value"], "DeviceOptions.place lacks --\(option.name)")
        }
    }
}
