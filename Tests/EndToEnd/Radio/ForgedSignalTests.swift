// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainDBus
import Synchronization
import TestSupport
import Testing

@testable import ProtocommTransports

@Suite("Signals that another user of this machine makes up")
struct ForgedSignalTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static let board = ForgedSignal(
        "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
        [
            "oa{sa{sv}}", "/org/bluez/hci0/dev_66_66_66_66_66_66", "1", "org.bluez.Device1", "3", "Address", "s",
            "66:66:66:66:66:66", "Name", "s", "PROV_nobody", "RSSI", "n", "-1",
        ])

    @Test("put no board into the list, and switch no radio off")
    func boards() async throws {
        try await withEchoRadio { _, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            try await Self.board.send(on: address)
            try await ForgedSignal(
                "/org/bluez/hci0", "org.freedesktop.DBus.Properties", "PropertiesChanged",
                ["sa{sv}as", "org.bluez.Adapter1", "1", "Powered", "b", "false", "0"]
            ).send(on: address)
            let heard = Mutex<[String]>([])
            try await central.discover(.anyBoard, for: .seconds(5)) { board in
                heard.withLock { $0.append(board.label) }
                return true
            }
            #expect(heard.withLock { $0 } == ["PROV_echo01"])
            #expect(
                central.adapter.watch.read { $0["/org/bluez/hci0", BlueZName.adapter]?["Powered"]?.boolean } == true)
            central.close()
        }
    }

    @Test("break no link")
    func links() async throws {
        try await withEchoRadio { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            let transport = BLETransport(to: .name("PROV_echo01")) { () throws(BluetoothError) in central }
            _ = try await transport.exchange([1], on: .session)
            for signal in [
                .bluezLeft, .connected(EchoRadio.device, false),
                ForgedSignal(
                    "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
                    ["oas", EchoRadio.device, "1", "org.bluez.Device1"]),
            ] {
                try await signal.send(on: address)
                let answer = try await transport.exchange([1, 2], on: .config)
                #expect(answer == [2, 1])
            }
            #expect(radio.log.filter { $0 == "Connect" }.count == 1)
            await transport.close()
        }
    }
}
