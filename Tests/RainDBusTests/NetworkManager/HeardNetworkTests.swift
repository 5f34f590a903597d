// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@Suite("Networks as NetworkManager hears them")
struct HeardNetworkTests {
    @Test(
        "percent is what NetworkManager made of dBm, and back",
        arguments: [(100, -40), (50, -70), (0, -100), (75, -55)])
    func signal(percent: Int, decibels: Int) {
        let network = HeardNetwork(path: "/", ssid: Array("PROV_1".utf8), strength: percent, security: .open)
        #expect(network.signal == decibels)
    }
}
