// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainIO
import Testing

@Suite("The list of serial ports")
struct SerialPortListTests {
    @Test("boards come first, by their USB ids; other terminals are left out")
    func fromASystemTree() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("ports-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }
        let files = SystemFiles(root: root.path)
        func write(_ path: String, _ text: String) throws {
            let file = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        func link(_ path: String, to target: String) throws {
            let file = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                at: file, withDestinationURL: root.appendingPathComponent(target))
        }
        for name in ["ttyACM0", "ttyACM10", "ttyACM2", "ttyUSB0", "ttyS0", "tty1", "null"] {
            try write("dev/\(name)", "")
        }
        // The way sysfs lays them out: an interface below the device for ttyACM, a port below that for ttyUSB.
        try write("devices/usb1/1-2/idVendor", "303a\n")
        try write("devices/usb1/1-2/idProduct", "1001\n")
        try write("devices/usb1/1-2/serial", "7C:DF:A1:00:00:01\n")
        try write("devices/usb1/1-2/product", "USB JTAG/serial debug unit\n")
        try write("devices/usb1/1-2/1-2:1.0/interface", "")
        try link("sys/class/tty/ttyACM2/device", to: "devices/usb1/1-2/1-2:1.0")
        try write("devices/usb1/1-3/idVendor", "10c4\n")
        try write("devices/usb1/1-3/idProduct", "ea60\n")
        try write("devices/usb1/1-3/1-3:1.0/ttyUSB0/port_number", "0\n")
        try link("sys/class/tty/ttyUSB0/device", to: "devices/usb1/1-3/1-3:1.0/ttyUSB0")
        try write("devices/usb1/1-4/idVendor", "1234\n")
        try write("devices/usb1/1-4/idProduct", "5678\n")
        try write("devices/usb1/1-4/1-4:1.0/interface", "")
        try link("sys/class/tty/ttyACM0/device", to: "devices/usb1/1-4/1-4:1.0")

        let ports = SerialPort.available(in: files)
        #expect(
            ports.map { String($0.path.split(separator: "/").last ?? "") } == [
                "ttyACM2", "ttyUSB0", "ttyACM0", "ttyACM10",
            ])
        #expect(ports[0].usb?.serialNumber == "7C:DF:A1:00:00:01")
        #expect(ports[0].usb?.productName == "USB JTAG/serial debug unit")
        #expect(ports.map(\.isLikelyBoard) == [true, true, false, false])
        #expect(ports[3].usb == nil)
    }

    @Test("a system without the folders has no ports")
    func nothing() { #expect(SerialPort.available(in: SystemFiles(root: "/nowhere")).isEmpty) }
}
