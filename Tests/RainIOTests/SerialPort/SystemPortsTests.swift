// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import TestSupport
import Testing

@Suite("What the system knows of a serial port")
struct SystemPortsTests {
    private static let mac = "7C:DF:A1:00:00:01"

    @Test("a board that comes back under another name is known by its serial number")
    func renamed() async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            let files = SystemFiles(root: tree.root)
            let pty = try PseudoTerminal()
            for name in ["ttyACM0", "ttyACM1"] {
                try tree.addDevice(
                    name, socket: "1-\(name.suffix(1))", vendor: "303a", product: "1001", serial: Self.mac)
            }
            try tree.link("dev/ttyACM0", to: pty.path)
            let before = try #require(SerialPort.description(of: tree.port("ttyACM0"), in: files))
            #expect(before.usb?.macAddress == Self.mac && before.usb?.location == "1-0" && before.usb?.interface == 0)
            unlink(tree.port("ttyACM0"))
            #expect(SerialPort.successor(of: before, in: files) == nil)
            try tree.link("dev/ttyACM1", to: pty.path)
            #expect(SerialPort.successor(of: before, in: files)?.path == tree.port("ttyACM1"))
        }
    }

    @Test("an adapter without a number of its own is known by its socket alone", arguments: ["0001", nil])
    func socket(serial: String?) async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            let files = SystemFiles(root: tree.root)
            for (name, socket) in [("ttyUSB0", "1-1.2"), ("ttyUSB1", "1-1.3"), ("ttyUSB2", "1-1.2")] {
                if name != "ttyUSB2" {
                    try tree.addDevice(name, socket: socket, vendor: "10c4", product: "ea60", serial: serial)
                } else {
                    try tree.write("", to: "sys/devices/usb1/1-1.2/1-1.2:1.0/ttyUSB2/uevent")
                    try tree.write("188:2\n", to: "sys/class/tty/ttyUSB2/dev")
                    try tree.link(
                        "sys/class/tty/ttyUSB2/device", to: "\(tree.root)/sys/devices/usb1/1-1.2/1-1.2:1.0/ttyUSB2")
                }
            }
            try tree.write("", to: "dev/ttyUSB0")
            try tree.write("", to: "dev/ttyUSB1")
            let before = try #require(SerialPort.description(of: tree.port("ttyUSB0"), in: files))
            unlink(tree.port("ttyUSB0"))
            #expect(SerialPort.successor(of: before, in: files) == nil)
            try tree.write("", to: "dev/ttyUSB2")
            #expect(SerialPort.successor(of: before, in: files)?.path == tree.port("ttyUSB2"))
        }
    }

    @Test(
        "the adapters of ESP boards are known",
        arguments: [
            ("303a", "1001"), ("303a", "1002"), ("10c4", "ea60"), ("1a86", "7523"), ("1a86", "55d3"), ("1a86", "55d4"),
            ("0403", "6001"), ("0403", "6010"), ("0403", "6015"),
        ])
    func adapters(vendor: String, product: String) async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            try tree.addDevice("ttyUSB0", socket: "1-1", vendor: vendor, product: product)
            try tree.write("", to: "dev/ttyUSB0")
            let ports = SerialPort.available(in: SystemFiles(root: tree.root))
            #expect(ports.map(\.isLikelyBoard) == [true])
            #expect(ports.first?.usb?.adapter.isChipsOwn == ((vendor, product) == ("303a", "1001")))
        }
    }

    @Test("ModemManager is named if it runs and the port's rules let it probe the port")
    func modem() async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            let files = SystemFiles(root: tree.root)
            try tree.addDevice("ttyACM0", socket: "1-1", vendor: "303a", product: "1001", number: "166:0")
            try tree.write("", to: "dev/ttyACM0")
            let port = tree.port("ttyACM0")
            #expect(!SerialPort.isProbedForModem(port, in: files))
            try tree.setProperties(["ID_MM_CANDIDATE=1"], of: "166:0")
            #expect(!SerialPort.isProbedForModem(port, in: files))
            try tree.addProcess(812, "ModemManager")
            #expect(SerialPort.isProbedForModem(port, in: files))
            try tree.setProperties(["ID_MM_CANDIDATE=1", "ID_MM_DEVICE_IGNORE=1"], of: "166:0")
            #expect(!SerialPort.isProbedForModem(port, in: files))
            try tree.addProcess(813, "ModemManager", holding: [port])
            #expect(SerialPort.holders(of: port, in: files).first?.isModemManager == true)
        }
    }

    @Test("nothing of it is a port", arguments: ["../../etc/passwd", "", "/nowhere/ttyACM0"])
    func nothing(path: String) {
        #expect(SerialPort.holders(of: path, in: SystemFiles(root: "/nowhere")).isEmpty)
        #expect(!SerialPort.isProbedForModem(path, in: SystemFiles(root: "/nowhere")))
    }
}
