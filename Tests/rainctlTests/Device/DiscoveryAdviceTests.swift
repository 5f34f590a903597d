// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

@Suite("The message for a search without a result")
struct DiscoveryAdviceTests {
    private static let service = "0000ffff-0000-1000-8000-00805f9b34fb"

    @Test("names the filters, and the boards in range that they exclude")
    func filters() {
        #expect(
            DeviceDiscover.advice(name: nil, prefix: "LAMP_", services: [Self.service], inRange: ["PROV_c0ffee"])
                == "No board whose name begins with \"LAMP_\" (--prefix) and with the service \(Self.service) (--service) was found, "
                + "but other boards are in range: PROV_c0ffee. Check --prefix and --service, or search without them.")
        #expect(
            DeviceDiscover.advice(name: nil, prefix: nil, services: [Self.service], inRange: [])
                == "No board with the service \(Self.service) (--service) was found: check that a board has power, is near, and is in "
                + "provisioning mode.")
        #expect(
            DeviceDiscover.advice(name: "PROV_1", prefix: nil, services: [], inRange: ["PROV_2"])
                == "No board PROV_1 was found, but other boards are in range: PROV_2. Check --device-name, or search without it."
        )
        #expect(
            DeviceDiscover.advice(name: nil, prefix: nil, services: [], inRange: [])
                == "No board was found: check that a board has power, is near, and is in provisioning mode.")
    }
}
