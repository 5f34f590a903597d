// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("Rules for udev")
struct UdevRulesTests {
    private static let path = Repository.path("packaging/udev/60-rainkit.rules")
    private static let port = ["TAG+=uaccess", "ENV{ID_MM_DEVICE_IGNORE}=1", "ENV{ID_MM_PORT_IGNORE}=1"]

    @Test("are such as udev(7) describes")
    func valid() throws {
        let rules = UdevRules(try readFile(Self.path))
        #expect(rules.faults.isEmpty)
        #expect(rules.rules.count > 5)
    }

    @Test(
        "what udev would not take is found",
        arguments: [
            ("SUBSYSTEM!=\"tty\"", "SUBSYSTEM!=tty"),
            ("ATTRS{idVendor}==\"303a\", GOTO", "ATTRS{idVendor}=\"303a\", GOTO"),
            ("ATTRS{idVendor}", "ATTRS"), ("TAG+=", "TAGS+="), ("ACTION==\"remove\", ", "ACTION==\"remove\" "),
            ("LABEL=\"rainkit_port\"", "LABEL=\"rainkit_ports\""), ("ACTION==", "ACTOIN=="), ("TAG+=", "TAG{x}+="),
        ])
    func invalid(right: String, wrong: String) throws {
        let text = try readFile(Self.path)
        #expect(text.contains(right))
        #expect(!UdevRules(text.replacing(right, with: wrong)).faults.isEmpty)
    }

    @Test("open a board's port to whoever sits at the machine, name one with its own USB, and leave others alone")
    func devices() throws {
        let rules = UdevRules(try readFile(Self.path))
        func applied(_ vendor: String, _ product: String, serial: String = "1", action: String = "add") -> [String] {
            rules.applied(
                to: ["ACTION": action, "SUBSYSTEM": "tty"],
                attributes: ["idVendor": vendor, "idProduct": product, "serial": serial])
        }
        let link = "SYMLINK+=esp/7C:DF:A1:00:00:01"
        #expect(applied("303a", "1001", serial: "7C:DF:A1:00:00:01") == [link] + Self.port)
        // Firmware of its own may have another number.
        #expect(applied("303a", "4001", serial: "000001") == Self.port)
        for serial in ["$(:id:);:rm:~x:*;", "..:/.:./:..:/e:tc", "7C:DF:A1:00:00:0g", "7C:DF:A1:00:00:01;"] {
            #expect(applied("303a", "1001", serial: serial) == Self.port, "\(serial)")
        }
        for (vendor, product) in [("10c4", "ea60"), ("1a86", "55d4"), ("0403", "6001")] {
            #expect(applied(vendor, product, serial: "7C:DF:A1:00:00:01") == Self.port)
        }
        #expect(applied("0403", "ffff").isEmpty && applied("2341", "0043").isEmpty)
        #expect(applied("303a", "1001", action: "remove").isEmpty)
        let disk = rules.applied(
            to: ["ACTION": "add", "SUBSYSTEM": "block"], attributes: ["idVendor": "303a", "idProduct": "1001"])
        #expect(disk.isEmpty)
    }
}
