// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainDBus
import TestSupport
import Testing

@Suite("Boards that somebody talks to already")
struct OtherPeoplesLinksTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func transport(_ board: BoardFilter, through central: BluetoothCentral) -> BLETransport {
        BLETransport(to: board, times: .init(connect: .seconds(8))) { () throws(BluetoothError) in central }
    }

    private func failure(_ transport: BLETransport) async -> BoardError? {
        do {
            _ = try await transport.exchange([1], on: .version)
            return nil
        } catch { return error }
    }

    static let vague: [BoardFilter] = [.anyBoard, .prefix("PROV_")]

    @Test("are not taken by whoever did not name them", arguments: vague)
    func anotherProgram(filter: BoardFilter) async throws {
        try await withEchoRadio { radio, address in
            let other = try await DBusClient.connect(.at(address))
            let device = DBusCall("org.bluez", EchoRadio.device, "org.bluez.Device1", "Connect")
            let scan = DBusCall("org.bluez", EchoRadio.adapter, "org.bluez.Adapter1", "StartDiscovery")
            try await other.call(scan, within: .waitLimit)
            try await other.call(device, within: .waitLimit)
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            let vague = transport(filter, through: central)
            let error = await failure(vague)
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("PROV_echo01") == true, "\(String(describing: error))")
            #expect(!radio.log.contains("Disconnect"))
            await vague.close()
            // Who names it means it.
            let named = BLETransport(to: .name("PROV_echo01")) { () throws(BluetoothError) in central }
            #expect(try await named.exchange([1], on: .version) == [1])
            #expect(radio.log.contains("Disconnect"))
            await named.close()
            other.close()
        }
    }

    static let pairs: [(BoardFilter, BoardFilter)] = [
        (.anyBoard, .anyBoard), (.name("PROV_echo01"), .anyBoard), (.anyBoard, .name("PROV_echo01")),
        (.name("PROV_echo01"), .address(EchoRadio.address)),
    ]

    @Test("belong to one transport of a process at a time", arguments: pairs)
    func sameProcess(first: BoardFilter, second: BoardFilter) async throws {
        try await withEchoRadio { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            let (one, other) = (transport(first, through: central), transport(second, through: central))
            _ = try await one.exchange([1], on: .session)
            let error = await failure(other)
            #expect(error?.code == .unreachable)
            #expect(!radio.log.contains("Disconnect"))
            #expect(try await one.exchange([1, 2], on: .config) == [2, 1])
            await one.close()
            // It is free once the first has let go of it.
            #expect(try await other.exchange([1, 2], on: .version) == [2, 1])
            await other.close()
        }
    }
}
