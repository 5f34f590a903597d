// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainKit
import Testing

@Suite("Addresses of boards")
struct BoardAddressTests {
    @Test(
        "the text form is read and written alike",
        arguments: [
            ("serial:/dev/ttyUSB0", BoardAddress.serial("/dev/ttyUSB0")),
            ("serial:", .serial()),
            ("ble:PROV_a1b2c3", .bluetooth("PROV_a1b2c3")),
            ("ble:7C:DF:A1:00:00:01?adapter=hci1", .bluetooth("7C:DF:A1:00:00:01", adapter: "hci1")),
            ("softap:192.168.4.1", .softAP("192.168.4.1")),
            ("softap:[::1]:8080", .softAP("[::1]:8080")),
            ("tcp:board.local:4000", BoardAddress(scheme: "tcp", location: "board.local:4000")),
        ])
    func textForm(text: String, address: BoardAddress) throws {
        #expect(try BoardAddress(text) == address)
        #expect(address.description == text)
    }

    @Test(
        "what is no address is refused", arguments: ["", "/dev/ttyUSB0", ":x", "Serial:x", "ble:x?adapter", "ble:x?=y"])
    func refused(text: String) {
        let error = #expect(throws: ProvisioningError.self) { try BoardAddress(text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("a host may have a port", arguments: [("a", 80), ("a:8080", 8080), ("[::1]", 80), ("[::1]:81", 81)])
    func hosts(text: String, port: Int) throws { #expect(try HostAndPort(text).port == port) }

    @Test("a host that is none is refused", arguments: ["", ":80", "a:0", "a:65536", "a:b", "a/b", "a b", "[::1]x"])
    func noHost(text: String) { #expect(throws: ProvisioningError.self) { try HostAndPort(text) } }
}
