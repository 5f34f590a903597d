// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What can be wrong with a board's address, and with what answers there.
extension InjectedFault {
    static let ofAddresses: [InjectedFault] = [
        address("an interface that this machine does not have", "no network interface", "[fe80::1%nosuchif0]"),
        address("a link-local address without an interface", "network interface", "[fe80::1]"),
        address("IPv6 without brackets", "brackets", "fe80::1"),
        address("two ports in an address", "more than one colon", "192.168.4.1:80:80"),
        address("a port after IPv6 without brackets", "[::1]:8080", "::1:8080"),
        address("a password in an address", "without a user name or a password", "bob:planted@127.0.0.1:80"),
        address("a URL instead of an address", "http://", "http://192.168.4.1/"),
        address("a port that does not exist", "not a port", "192.168.4.1:99999"),
        address("a host name that does not exist", "the name nobody.invalid is not known", "nobody.invalid"),
        address("a path after the address", "HOST or HOST:PORT", "192.168.4.1/prov"),
        provision("cable", "a folder instead of a port", "folder", "--port", "/tmp"),
        provision("cable", "a port of Windows", "COM3 is the name of a port on Windows", "--port", "COM3"),
        provision("cable", "a device that is not a serial port", "not a serial port", "--port", "/dev/null"),
        InjectedFault("cable", "a log without line ends", "line end", known: .silence(5)) { lab in
            let terminal = try PseudoTerminal()
            // Opening a port discards what came before.
            let printing = Task {
                while !Task.isCancelled {
                    await terminal.send("ready> ")
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            defer { printing.cancel() }
            return try await lab.rainctl(
                "device", "monitor", "--port", terminal.path, "--until", "hello", "--timeout", "5")
        },
        InjectedFault("cable", "a silent port, monitored for a text", "No data arrived from", known: .silence(2)) {
            lab in
            let terminal = try PseudoTerminal()
            let port = lab.folder.file("silent")
            symlink(terminal.path, port)
            return try await lab.rainctl("device", "monitor", "--port", port, "--until", "hello", "--timeout", "2")
        },
        InjectedFault("cable", "Security 2 over a console", "console line") { lab in
            let board = try await lab.board([
                "--console", lab.folder.file("tty"), "--console-dialect", "protocomm", "--security", "2",
            ])
            return try await lab.provision(["--port", board.console ?? ""])
        },
        improv("a board that has stopped Improv", "Improv is stopped", "stopped=1"),
        improv("a button that nobody presses", "button", "button=1"),
        improv("a claim over Improv", "over which it cannot be claimed", cloud: true, ["device", "claim"]),
        improv("a reset over Improv", "speaks Improv, which has no command", ["device", "reset"]),
        improv("values over Improv", "speaks Improv, which has no endpoints", ["device", "params", "get"]),
        board("an endpoint that the firmware does not have", "nosuch", ["device", "send", "nosuch", "--text", "x"]),
        board("values that the firmware does not offer", "does not report its values", ["device", "params", "get"]),
        board(
            "an older security scheme than the board's", "Security 2, not 1", options: ["--security", "2"],
            ["device", "scan", "--sec-ver", "1"]),
        board(
            "a board without RainMaker", "no RainMaker endpoint", options: ["--security", "1", "--mapping", "none"],
            cloud: true,
            [
                "provision", "--ssid", "Home", "--passphrase-file", "{}/wifi",
            ]),
        board("nobody is signed in", "signed in", ["provision", "--ssid", "Home", "--passphrase-file", "{}/wifi"]),
    ]

    private static func address(_ name: String, _ words: String, _ host: String) -> InjectedFault {
        provision("address", name, words, "--transport", "softap", "--device-host", host)
    }

    private static func improv(_ name: String, _ words: String, _ fault: String) -> InjectedFault {
        InjectedFault("cable", name, words) { lab in
            let board = try await SimulatedBoard.start(
                ["--console", lab.folder.file("tty"), "--console-dialect", "improv", "--console-fault", fault],
                in: lab.folder)
            defer { board.process.kill() }
            return try await lab.provision(["--port", lab.folder.file("tty")], pop: nil)
        }
    }

    /// A command for a board that speaks Improv.
    private static func improv(
        _ name: String, _ words: String, cloud: Bool = false, _ arguments: [String]
    ) -> InjectedFault {
        InjectedFault("cable", name, words, cloud: cloud) { lab in
            let board = try await SimulatedBoard.start(
                ["--console", lab.folder.file("tty"), "--console-dialect", "improv"], in: lab.folder)
            defer { board.process.kill() }
            return try await lab.timed(arguments + ["--port", lab.folder.file("tty")])
        }
    }

    private static func board(
        _ name: String, _ words: String, options: [String] = ["--security", "1"], cloud: Bool = false,
        _ arguments: [String]
    ) -> InjectedFault {
        InjectedFault("board", name, words, cloud: cloud) { lab in
            let board = try await lab.board(options)
            return try await lab.timed(
                arguments.map { $0.replacing("{}", with: lab.folder.path) } + ["--pop-file", lab.folder.file("pop")]
                    + Maker.way(to: board))
        }
    }
}
