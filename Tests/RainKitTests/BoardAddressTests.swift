// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainKit
import Testing

@Suite("Addresses of boards")
struct BoardAddressTests {
    @Test(
        "the text form is read and written in the same way",
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
        "an invalid address is refused", arguments: ["", "/dev/ttyUSB0", ":x", "Serial:x", "ble:x?adapter", "ble:x?=y"])
    func refused(text: String) {
        let error = #expect(throws: BoardError.self) { try BoardAddress(text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("a host may have a port", arguments: [("a", 80), ("a:8080", 8080), ("[::1]", 80), ("[::1]:81", 81)])
    func hosts(text: String, port: Int) throws { #expect(try HostAndPort(text).port == port) }

    @Test(
        "an invalid host is refused",
        arguments: [
            "", ":80", "a:0", "a:65536", "a:b", "a/b", "a b", "[::1]x", "127.0.0.1;80", "127.0.0.1,80", "[::1", "[a",
            "[g::]",
            "a&b", "a=b",
        ])
    func noHost(text: String) { #expect(throws: BoardError.self) { try HostAndPort(text) } }

    @Test(
        "a host that cannot be used is refused with its cause",
        arguments: [
            ("http://192.168.4.1/", "without http://"), ("fe80::1", "in brackets"),
            ("2001:db8::5:80", "in brackets"), ("::1:8080", "[::1]:8080"), ("fe80::1%eth0", "in brackets"),
            ("board:80:http", "more than one colon"), ("192.168.4.1:80:80", "more than one colon"),
            ("::1", "in brackets"), ("192.168.4.1:99999", "\"99999\" is not a port"), ("a:b", "\"b\" is not a port"),
            ("[::1]:0", "\"0\" is not a port"), ("192.168.4.1/prov", "HOST or HOST:PORT"),
        ])
    func cause(text: String, words: String) {
        let error = #expect(throws: BoardError.self) { try HostAndPort(text) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(
        "no message shows a password in an address",
        arguments: [
            "bob:TOPSECRET@127.0.0.1:80", "bob:TOPSECRET@board", "TOPSECRET@board:99999", "bob:TOPSECRET@[::1]:80",
            "http://bob:TOPSECRET@192.168.4.1/", "b:o:TOPSECRET@board", "bob:TOP@SECRET:TOPSECRET@board",
        ])
    func password(text: String) throws {
        let error = try #require(throws: BoardError.self) { try HostAndPort(text) }
        #expect(!"\(error) \(error.cause ?? "")".contains("TOPSECRET"), "\(error)")
    }

    @Test(
        "an address with an interface needs an interface that exists",
        arguments: [
            ("[fe80::1%nosuchif0]", "no network interface \"nosuchif0\""),
            ("[fe80::1]", "needs the name of the network interface"),
            ("[FEBF::1]:8080", "needs the name of the network interface"),
        ])
    func noInterface(text: String, words: String) throws {
        let place = try HostAndPort(text)
        let error = #expect(throws: BoardError.self) { try place.checkInterface() }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(
        "other addresses need no interface",
        arguments: ["[fe80::1%lo]", "[::1]", "[2001:db8::1]:80", "192.168.4.1", "fe80.example"])
    func interface(text: String) throws { try HostAndPort(text).checkInterface() }
}
