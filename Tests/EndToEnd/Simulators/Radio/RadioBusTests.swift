// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The simulated radio on a real bus, seen by the clients that every Linux machine has.
@Suite("firmware-sim --ble on a bus")
struct RadioBusTests {
    private static let quick = ["--ble-fault", "connect=0.05", "--ble-fault", "resolve=0.05"]

    /// A person at `bluetoothctl`, who types after having read.
    private final class Operator: Sendable {
        let process: ChildProcess

        init(_ radio: SimulatedBluetooth) async throws {
            process = try await ChildProcess.start(
                "bluetoothctl", environment: radio.environment.merging(["TERM": "dumb"]) { $1 }, input: .open)
            try await process.output(containing: "Agent registered")
        }

        /// - Parameter answer: what is waited for; it must be new with this command.
        func types(_ command: String, until answer: String) async throws {
            process.write(command + "\n")
            try await process.output(containing: answer)
        }
    }

    @Test("bluetoothctl lists, scans, connects, reads descriptors and values, disconnects and removes")
    func bluetoothctl() async throws {
        try await withTemporaryFolder { folder in
            let radio = try await SimulatedBluetooth.start(
                ["--name", "PROV_c0ffee", "--ble-fault", "disconnect=0.1"] + Self.quick, in: folder)
            let board = radio.boards[0]
            let list = try await radio.run("bluetoothctl", ["list"])
            #expect(list.standardOutput.contains("Controller 02:00:5E:00:53:01"))
            let show = try await radio.run("bluetoothctl", ["show"])
            #expect(show.standardOutput.contains("Powered: yes") && show.standardOutput.contains("Roles: central"))

            let person = try await Operator(radio)
            try await person.types("scan on", until: "Device \(board.address) PROV_c0ffee")
            try await person.types("devices", until: "Device \(board.address) PROV_c0ffee")
            try await person.types("connect \(board.address)", until: "Connection successful")
            try await person.process.output(containing: "ServicesResolved: yes")
            try await person.types("info \(board.address)", until: "Connected: yes")
            try await person.types("menu gatt", until: "Menu gatt")
            try await person.types("list-attributes", until: "021aff53-0382-4aea-bff4-6b3f1c5adfb4")
            try await person.types("select-attribute \(board.path)/service000c/char0019/desc001b", until: "desc001b]")
            try await person.types("read", until: "proto-ver")
            try await person.types("select-attribute \(board.path)/service000c/char0019", until: "char0019]")
            try await person.types("write \"0x2d 0x2d 0x2d\"", until: "Attempting to write")
            _ = try await radio.journal.entry(where: ["event": "request", "endpoint": "proto-ver", "bytes": 3])
            try await person.types("read", until: "{..\"prov\":.{")
            try await person.types("back", until: "Menu main")
            try await person.types("disconnect", until: "Successful disconnected")
            _ = try await radio.journal.entry(where: ["event": "state", "change": "link_down"])
            try await person.types("remove \(board.address)", until: "Device has been removed")
            try await person.process.output(containing: "DEL")
        }
    }

    @Test("busctl walks the tree and reads properties in their types")
    func busctl() async throws {
        try await withTemporaryFolder { folder in
            let radio = try await SimulatedBluetooth.start(Self.quick, in: folder)
            let board = radio.boards[0]
            // A scan that outlives its caller would be no scan: busctl leaves the bus at once.
            let scanner = try await Operator(radio)
            try await scanner.types("scan on", until: "Device \(board.address)")
            #expect(try await radio.busctl(board.path, "Device1", "Connect") != nil)
            let end = ContinuousClock.now + .waitLimit
            var tree = ""
            while !tree.contains("desc000f"), ContinuousClock.now < end {
                tree = try await radio.run("busctl", ["--system", "tree", "org.bluez"]).standardOutput
            }
            #expect(tree.contains("\(board.path)/service000c/char000d/desc000f"))
            for (interface, property, value) in [
                ("Device1", "Connected", "b true"),
                ("Device1", "UUIDs", "as 1 \"021a9004-0382-4aea-bff4-6b3f1c5adfb4\""),
                ("Device1", "Adapter", "o \"/org/bluez/hci0\""), ("Device1", "Alias", "s \"\(board.name)\""),
            ] {
                let found = try await radio.run(
                    "busctl", ["--system", "get-property", "org.bluez", board.path, "org.bluez.\(interface)", property])
                #expect(found.standardOutput == value + "\n")
            }
            let characteristic = board.path + "/service000c/char0019"
            let introspected = try await radio.run(
                "busctl", ["--system", "introspect", "org.bluez", characteristic])
            #expect(introspected.standardOutput.contains("org.bluez.GattCharacteristic1"))
            let read = try await radio.busctl(characteristic, "GattCharacteristic1", "ReadValue", "a{sv}", "0")
            #expect(read == "ay 0\n")
            let error = try await radio.run(
                "busctl", ["--system", "call", "org.bluez", "/org/bluez/hci9", "org.bluez.Adapter1", "StartDiscovery"])
            #expect(error.standardError.contains("hci9") && error.status != .exited(0))
            scanner.process.kill()
        }
    }

    @Test("several boards have names, addresses and nodes of their own; the same seed makes the same ones")
    func boards() async throws {
        var seen: Set<String> = []
        for _ in 0..<2 {
            try await withTemporaryFolder { folder in
                let radio = try await SimulatedBluetooth.start(["--boards", "20", "--seed", "11"], in: folder)
                #expect(radio.boards.count == 20)
                #expect(Set(radio.boards.map(\.name)).count == 20 && Set(radio.boards.map(\.address)).count == 20)
                #expect(Set(radio.boards.map(\.nodeID)).count == 20)
                #expect(radio.boards.allSatisfy { $0.name.hasPrefix("PROV_") && $0.address.hasPrefix("7C:DF:A1:") })
                seen.insert("\(radio.boards)")
            }
        }
        #expect(seen.count == 1)
    }

    @Test("boards are the nodes of a file, in the order of their ids, and come to the cloud with their certificates")
    func nodes() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-b", "node-c", "node-a"], in: folder)
            try folder.write(cloud.readyDocument, to: "nodes.json")
            let radio = try await SimulatedBluetooth.start(
                [
                    "--boards", "2", "--nodes", folder.file("nodes.json"), "--mapping", "ch-resp", "--mqtt", cloud.mqtt,
                    "--ca", cloud.ca,
                ], in: folder)
            #expect(radio.boards.map(\.nodeID) == ["node-a", "node-b"])
        }
    }

    @Test("it ends within a second when told, and gives the name back")
    func ends() async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            for _ in 0..<2 {
                let radio = try await SimulatedBluetooth.start(["--boards", "3"], on: bus, in: folder)
                #expect(try await radio.process.terminate(within: Timings.limit(.seconds(1))) == .exited(0))
            }
        }
    }

    @Test("a second radio on one bus is refused, and so is a bus that is not there; both say what to do")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            let radio = try await SimulatedBluetooth.start(in: folder)
            for address in [radio.bus.address, "unix:path=\(folder.file("nobody"))"] {
                let finished = try await run(
                    try Executables.path("firmware-sim"), ["--ble"],
                    environment: ["DBUS_SYSTEM_BUS_ADDRESS": address], within: .waitLimit)
                #expect(finished.status == .exited(64) && finished.standardOutput.isEmpty)
                #expect(finished.standardError.contains("DBUS_SYSTEM_BUS_ADDRESS"), "\(finished.standardError)")
            }
        }
    }

    @Test("when its bus goes away it ends")
    func busLost() async throws {
        try await withTemporaryFolder { folder in
            let radio = try await SimulatedBluetooth.start(in: folder)
            try await radio.bus.end()
            #expect(try await radio.process.wait() == .exited(0))
        }
    }

    @Test(
        "what cannot work is refused with exit code 64 and a sentence",
        arguments: [
            ["--ble", "--boards", "0"], ["--ble", "--boards", "2", "--name", "PROV_1"],
            ["--http", "127.0.0.1:0", "--boards", "2"], ["--http", "127.0.0.1:0", "--ble-fault", "noname"],
            ["--ble", "--ble-fault", "abort=often"], ["--ble", "--nodes", "/no/such/file"],
            ["--ble", "--nodes", "/dev/null", "--node-id", "x"], ["--ble", "--boards", "2", "--mapping", "ch-resp"],
            ["--ble", "--name", "PROV_with-a-name-of-thirty-byte"],
        ])
    func options(arguments: [String]) async throws {
        let finished = try await run(
            try Executables.path("firmware-sim"), arguments,
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/none"],
            within: .waitLimit)
        #expect(finished.status == .exited(64))
        #expect(finished.standardError.hasPrefix("Error: ") && finished.standardOutput.isEmpty)
    }
}
