// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO
import RainKit
import Testing

@Suite("Which address is meant")
struct BoardHintTests {
    static func client(isCabled: Bool = false) -> RainKitClient {
        var configuration = RainKitConfiguration.inMemory()
        let adapter = USBIdentity.Adapter(vendor: 0x303A, product: 0x1001)
        let port = SerialPortDescription(path: "/dev/ttyACM0", usb: isCabled ? USBIdentity(adapter: adapter) : nil)
        configuration.transports = [SerialBoards { [port] }, BluetoothBoards(), SoftAPBoards()]
        return RainKitClient(configuration)
    }

    @Test("a named transport comes first")
    func named() throws {
        let address = try Self.client(isCabled: true).address(
            for: BoardHint(scheme: "ble", options: ["device-name": "PROV_1", "adapter": "hci1"]))
        #expect(address == .bluetooth("PROV_1", adapter: "hci1"))
    }

    @Test(
        "an option chooses its transport",
        arguments: [
            (["port": "/dev/ttyUSB7"], BoardAddress.serial("/dev/ttyUSB7")),
            (["device-host": "10.0.0.2:81"], .softAP("10.0.0.2:81")),
            (["adapter": "hci1"], .bluetooth(adapter: "hci1")),
            (["device-host": "10.0.0.2", "device-name": "PROV_1"], .softAP("10.0.0.2", name: "PROV_1")),
        ])
    func option(options: [String: String], address: BoardAddress) throws {
        #expect(try Self.client(isCabled: true).address(for: BoardHint(options: options)) == address)
    }

    @Test("a QR code chooses the transport and the name")
    func code() throws {
        let code = try QRPayload(Array("NP:PROV_9|abcd1234|b".utf8))
        #expect(try Self.client().address(for: BoardHint(code: code)) == .bluetooth("PROV_9"))
        #expect(
            try Self.client().address(for: BoardHint(options: ["device-name": "PROV_8"], code: code))
                == .bluetooth("PROV_8"))
    }

    @Test("otherwise a name over Bluetooth, a cabled board, then the cable: a cable does not tell whose board it has")
    func otherwise() throws {
        let name = ["device-name": "PROV_1"]
        #expect(try Self.client(isCabled: true).address(for: BoardHint(options: name)) == .bluetooth("PROV_1"))
        #expect(try Self.client(isCabled: true).address(for: BoardHint()) == .serial())
        #expect(try Self.client().address(for: BoardHint(options: name)) == .bluetooth("PROV_1"))
        #expect(try Self.client().address(for: BoardHint()) == .serial())
    }

    @Test("an unknown transport is refused, and the known ones are listed")
    func unknown() {
        let error = #expect(throws: BoardError.self) {
            try Self.client().address(for: BoardHint(scheme: "tcp"))
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("serial, ble, softap") == true)
    }
}
