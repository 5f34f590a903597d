// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What can be wrong between the cable and the Wi-Fi.
extension InjectedFault {
    static let ofBoards: [InjectedFault] = [
        printed("empty-flash", "empty flash", "no firmware", known: .told(0.4)),
        printed("no-application", "a boot loader without an application", "no application", known: .told(0.8)),
        printed("wrong-chip", "firmware for another chip", "chip", known: .told(0.8)),
        printed("download", "BOOT was held", "BOOT"),
        printed("crash-loop", "the firmware crashes", "crash", known: .told(1.2)),
        printed("brown-out", "the supply voltage falls", "supply", known: .told(1.2)),
        printed("unreadable", "a log at another baud rate", "baud"),
        printed("provisioned", "a board that is already set up", "already", known: .silence(1.5)),
        InjectedFault("cable", "a silent port until the time is over", "no data has arrived", known: .silence(2)) {
            lab in
            let board = try await SimulatedBoard.start(
                [
                    "--console", lab.folder.file("tty"), "--console-dialect", "log-only", "--boot-log", "silent",
                    "--console-noise", "none",
                ],
                in: lab.folder)
            defer { board.process.kill() }
            return try await lab.rainctl("device", "info", "--port", lab.folder.file("tty"), "--timeout", "2")
        },
        InjectedFault("cable", "a port that does not exist", "nowhere does not exist") {
            try await $0.provision(["--port", $0.folder.file("nowhere")])
        },
        InjectedFault("cable", "a file instead of a port", "not a serial port", "no serial port") { lab in
            try lab.folder.write("text", to: "file")
            return try await lab.provision(["--port", lab.folder.file("file")])
        },
        InjectedFault("cable", "two boards without a choice", "several") { lab in
            let tree = try SystemTree(in: lab.folder)
            for (index, name) in ["ttyUSB0", "ttyUSB1"].enumerated() {
                try tree.addDevice(name, socket: "1-\(index)", vendor: "10c4", product: "ea60")
                try tree.write("", to: "dev/\(name)")
            }
            return try await lab.provision(["--transport", "serial"], environment: tree.environment)
        },
        InjectedFault("cable", "no board is plugged in, or its cable only charges", "carries only power") { lab in
            try await lab.provision(["--transport", "serial"], environment: try SystemTree(in: lab.folder).environment)
        },
        InjectedFault("cable", "RAINKIT_SYSTEM_ROOT names a folder that does not exist", "cannot be read: No such file")
        {
            try await $0.provision(
                ["--transport", "serial"], environment: ["RAINKIT_SYSTEM_ROOT": $0.folder.file("nowhere")])
        },
        InjectedFault(
            "cable", "a search below a RAINKIT_SYSTEM_ROOT that does not exist", "cannot be read: No such file"
        ) {
            try await $0.rainctl(
                "device", "discover", "--transport", "serial", "--timeout", "1s",
                environment: ["RAINKIT_SYSTEM_ROOT": $0.folder.file("nowhere")])
        },
        InjectedFault("Bluetooth", "no D-Bus system bus", "bus") {
            try await $0.provision(["--transport", "ble", "--device-name", "PROV_1"])
        },
        InjectedFault("Bluetooth", "BlueZ does not run", "bluez") { lab in
            let bus = try await SessionBusDaemon(in: lab.folder)
            let outcome = try await lab.provision(
                ["--transport", "ble", "--device-name", "PROV_1"], environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
            )
            try await bus.end()
            return outcome
        },
        command(
            "Bluetooth", "a D-Bus address without a transport", "is not a D-Bus address",
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "/run/dbus/system_bus_socket"],
            [
                "provision", "--no-mapping", "--transport", "ble", "--device-name", "PROV_1", "--no-wifi", "--pop-file",
                "{}/pop",
            ]),
        command(
            "Bluetooth", "a service that is not a UUID", "\"xyz\" is not one",
            ["device", "discover", "--transport", "ble", "--service", "xyz"]),
        radio("absent", "no adapter", "no Bluetooth adapter"), radio("off", "the adapter is off", "off"),
        radio("rfkill", "the radio switch blocks the adapter", "blocked"),
        radio("on", "no board advertises", "PROV_1", known: .silence(3.75)),
        InjectedFault("Wi-Fi", "the board's address is wrong", "address may be wrong") {
            try await $0.provision(["--transport", "softap", "--device-host", "127.0.0.1:9"])
        },
        InjectedFault("Wi-Fi", "the board has stopped", "answer", known: .silence(4)) { lab in
            let board = try await lab.board()
            board.process.signal(SIGSTOP)
            defer { board.process.kill() }
            return try await lab.provision(Maker.way(to: board) + ["--timeout", "4"])
        },
        InjectedFault("Wi-Fi", "a wrong Wi-Fi password", "password") { lab in
            let board = try await lab.board(["--security", "1", "--attempts", "1"])
            return try await lab.provision(
                Maker.way(to: board),
                network: ["--ssid", SimulatedBoard.ssid, "--passphrase-file", lab.folder.file("wrong")])
        },
        InjectedFault("Wi-Fi", "a Wi-Fi password of the form NAME=value", "NAME=value") { lab in
            let board = try await lab.board(["--security", "1", "--attempts", "1"])
            lab.folder.writePrivately(Array("WIFI=planted-wifi".utf8), to: "variables")
            return try await lab.provision(
                Maker.way(to: board),
                network: ["--ssid", SimulatedBoard.ssid, "--passphrase-file", lab.folder.file("variables")])
        },
        InjectedFault("Wi-Fi", "a Wi-Fi password in Latin-1", "not UTF-8") { lab in
            let board = try await lab.board(["--security", "1", "--attempts", "1"])
            lab.folder.writePrivately([0xFC] + Array("planted-wifi".utf8), to: "latin")
            return try await lab.provision(
                Maker.way(to: board),
                network: ["--ssid", SimulatedBoard.ssid, "--passphrase-file", lab.folder.file("latin")])
        },
        InjectedFault("Wi-Fi", "a network out of reach", "cannot find the network \"Attic\"") { lab in
            let board = try await lab.board(["--security", "1", "--attempts", "1"])
            return try await lab.provision(
                Maker.way(to: board), network: ["--ssid", "Attic", "--passphrase-file", lab.folder.file("wifi")])
        },
        InjectedFault("Wi-Fi", "a Wi-Fi password that is too short", "8 to 63 bytes") { lab in
            try lab.folder.write("short", to: "four")
            try lab.folder.write("seven77", to: "seven")
            return try await lab.provision(
                ["--transport", "softap"], network: ["--ssid", "Home", "--passphrase-file", lab.folder.file("seven")])
        },
        InjectedFault("Wi-Fi", "a network name that is too long", "1 to 32 bytes") {
            try await $0.provision(
                ["--transport", "softap"],
                network: ["--ssid", String(repeating: "x", count: 33), "--passphrase-file", $0.folder.file("wifi")])
        },
        InjectedFault("Wi-Fi", "no network is given", "No network was given") {
            try await $0.provision(["--transport", "softap"], network: [])
        },
        InjectedFault("Wi-Fi", "an empty password", "empty") { lab in
            try lab.folder.write("", to: "nothing")
            return try await lab.provision(
                ["--transport", "softap"], network: ["--ssid", "Home", "--passphrase-file", lab.folder.file("nothing")])
        },
        InjectedFault(
            "Wi-Fi", "the board loses its power as it joins", "stopped answering", "lost", "silent", "answer",
            known: .silence(12.3)
        ) {
            lab in
            let board = try await lab.board(["--security", "1", "--vanish", "power=0.3", "--join-delay", "1.4"])
            return try await lab.provision(Maker.way(to: board))
        },
        InjectedFault("session", "a wrong proof of possession", "proof") { lab in
            let board = try await lab.board()
            return try await lab.provision(Maker.way(to: board), pop: "wrong")
        },
        InjectedFault("session", "a proof of possession of the form NAME=value", "NAME=value") { lab in
            let board = try await lab.board()
            lab.folder.writePrivately(Array("POP=planted".utf8), to: "variables")
            return try await lab.provision(Maker.way(to: board), pop: "variables")
        },
        InjectedFault("session", "a wrong proof of possession, Security 2", "proof") { lab in
            let board = try await lab.board(["--security", "2"])
            return try await lab.provision(Maker.way(to: board), pop: "wrong")
        },
        InjectedFault("session", "a whole QR code instead of the proof of possession", "whole text of a QR code") {
            lab in
            let board = try await lab.board()
            lab.folder.writePrivately(Array(#"{"ver":"v1","name":"PROV_1","pop":"planted"}"#.utf8), to: "code")
            return try await lab.provision(Maker.way(to: board), pop: "code")
        },
        InjectedFault("session", "a wrong user name for Security 2", "user name") { lab in
            let board = try await lab.board(["--security", "2", "--username", "somebody"])
            return try await lab.provision(Maker.way(to: board))
        },
        InjectedFault("session", "a security scheme that the board does not use", "Security") { lab in
            let board = try await lab.board()
            return try await lab.provision(Maker.way(to: board) + ["--sec-ver", "2"])
        },
        InjectedFault("session", "Security 0 although a proof of possession is known", "Security 0") { lab in
            let board = try await lab.board(["--security", "0"])
            return try await lab.provision(Maker.way(to: board))
        },
        InjectedFault("session", "a security scheme for a console without sessions", "cannot use Security") { lab in
            let board = try await SimulatedBoard.start(
                ["--console", lab.folder.file("tty"), "--console-dialect", "rainmaker", "--console-noise", "none"],
                in: lab.folder)
            defer { board.process.kill() }
            return try await lab.provision(["--port", lab.folder.file("tty"), "--sec-ver", "2"])
        },
        InjectedFault("session", "an endpoint without a name", "endpoint's name is empty") { lab in
            let board = try await lab.board()
            return try await lab.timed(
                ["device", "send", "", "--text", "x", "--pop-file", lab.folder.file("pop")] + Maker.way(to: board))
        },
        InjectedFault("session", "data for one of protocomm's endpoints", "accepts only protocomm's own messages") {
            lab in
            let board = try await lab.board()
            return try await lab.timed(
                ["device", "send", "prov-config", "--text", "x", "--pop-file", lab.folder.file("pop")]
                    + Maker.way(to: board))
        },
        InjectedFault("session", "no proof of possession is given", "proof of possession") { lab in
            let board = try await lab.board()
            return try await lab.provision(Maker.way(to: board), pop: nil)
        },
        InjectedFault("session", "a QR code for something else", "QR code") {
            try await $0.provision(["--qrcode", "https://example.com"], pop: nil)
        },
        InjectedFault("session", "a picture without a QR code", "QR code") { lab in
            lab.folder.writePrivately(
                Array("P5 64 64 255\n".utf8) + [UInt8](repeating: 255, count: 4096), to: "white.pgm")
            _ = try await TestSupport.run(
                "cjpeg", ["-outfile", lab.folder.file("white.jpg"), lab.folder.file("white.pgm")])
            return try await lab.rainctl("qr", "read", lab.folder.file("white.jpg"))
        },
    ]

    private static func printed(
        _ log: String, _ name: String, _ words: String, known evidence: Evidence = .start
    ) -> InjectedFault {
        InjectedFault("cable", name, words, known: evidence) { lab in
            let board = try await SimulatedBoard.start(
                [
                    "--console", lab.folder.file("tty"), "--console-dialect", "log-only", "--boot-log", log,
                    "--console-noise", "none",
                ],
                in: lab.folder)
            defer { board.process.kill() }
            return try await lab.provision(["--port", lab.folder.file("tty")], pop: nil)
        }
    }

    private static func radio(
        _ state: String, _ name: String, _ words: String, known evidence: Evidence = .start
    ) -> InjectedFault {
        InjectedFault("Bluetooth", name, words, known: evidence) { lab in
            let radio = try await SimulatedBluetooth.start(["--ble-fault", "adapter=\(state)"], in: lab.folder)
            let outcome = try await lab.provision(
                ["--transport", "ble", "--device-name", "PROV_1", "--timeout", "5"], environment: radio.environment)
            try await radio.process.terminate()
            try await radio.bus.end()
            return outcome
        }
    }
}
