// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The main promise: a board is plugged in, and one command that names nothing but the network has it in the account.
@Suite("rainctl provision: a board on USB")
struct USBBoardTests {
    @Test("on the chip's own USB, which only prints, by one command without port or proof", arguments: [false, true])
    func native(isReplugged: Bool) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-usb"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let root = folder.file("system")
            let radio = try await SimulatedBluetooth.start(
                ["--usb", "native", "--system-root", root, "--boot-log", "led-light", "--join-delay", "0.2"]
                    + ["--security", "2", "--mapping", "ch-resp", "--boot-delay", "0.8"]
                    + (isReplugged ? ["--console-fault", "replug=0.3"] : []) + cloud.boardOptions(node: "node-usb"),
                in: folder)
            var environment = radio.environment
            environment["RAINKIT_SYSTEM_ROOT"] = root
            let outcome = try await maker.rainctl(
                [
                    "provision", "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--json",
                    "-v",
                ], environment: environment)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
            if isReplugged { #expect(outcome.standardError.contains("ttyACM1"), "\(outcome.standardError)") }
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("several are distinguished by name and product, and leave no trace when they are unplugged")
    func bench() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let root = folder.file("system")
            let common = ["--system-root", root, "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
            let bridge = try await SimulatedBoard.start(["--usb", "bridge"] + common, in: folder)
            let native = try await SimulatedBoard.start(["--usb", "native"] + common, in: folder)
            let environment = ["RAINKIT_SYSTEM_ROOT": root]
            let found = try await maker.rainctl(
                ["device", "discover", "--transport", "serial", "--timeout", "1", "--json"], environment: environment)
            let ports = found.document?["boards"]?.array?.compactMap { $0["port"]?.string }
            #expect(ports == ["\(root)/dev/ttyACM0", "\(root)/dev/ttyUSB0"], "\(found.standardOutput)")
            let outcome = try await maker.rainctl(
                [
                    "provision", "--no-mapping", "--port", "/dev/ttyUSB0", "--pop-file", folder.file("pop"),
                    "--ssid",
                ]
                    + [SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--json"],
                environment: environment)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            try await bridge.process.terminate()
            try await native.process.terminate()
            let none = try await maker.rainctl(
                ["device", "info", "--transport", "serial", "--json"], environment: environment)
            none.expectFailure(69, "unavailable", says: "its cable carries only power")
        }
    }
}
