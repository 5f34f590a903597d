// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// Two machines on one link: the network namespaces of the maker and of the board. A pair of virtual Ethernet devices called `v0` joins them.
/// Each has its own D-Bus and Avahi.
struct LinkedNetworks {
    static let makerAddress = "10.99.0.1"
    static let boardAddress = "10.99.0.2"
    static let boardHost = "board-host"

    let folder: TemporaryFolder
    let maker: NetworkNamespace
    /// Where the Avahi of each is.
    let makerBus: String
    let boardBus: String
    private let board: ChildProcess
    private let processes: [ChildProcess]

    /// - Parameter hasVersion4: false for a link with nothing but IPv6's own addresses.
    static func run(hasVersion4: Bool = true, _ body: (LinkedNetworks) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await withTemporaryFolder { other in
                let networks = try await LinkedNetworks(folder, other, hasVersion4: hasVersion4)
                defer { networks.end() }
                try await body(networks)
            }
        }
    }

    private init(_ folder: TemporaryFolder, _ other: TemporaryFolder, hasVersion4: Bool) async throws {
        self.folder = folder
        maker = try await NetworkNamespace(addresses: [])
        // Below the maker's: whoever is not root may join only networks of one user namespace.
        let (executable, arguments) = maker.command("unshare", ["--net", "cat"])
        board = try await ChildProcess.start(executable, arguments, input: .open)
        board.write("ready\n")
        _ = try await board.readyLine()
        try await Self.check(
            maker.command("ip", ["link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", "\(board.pid)"]))
        let (makerCommand, boardCommand) = (maker.command, Self.command(board))
        for (command, address) in [(makerCommand, Self.makerAddress), (boardCommand, Self.boardAddress)] {
            // Otherwise the link's own address could not be used for the first two seconds.
            let steps =
                "ip link set lo up && echo 0 > /proc/sys/net/ipv6/conf/v0/accept_dad"
                + (hasVersion4 ? " && ip addr add \(address)/24 dev v0" : "") + " && ip link set v0 up"
            try await Self.check(command("sh", ["-c", steps]))
        }
        let buses = (try await SessionBusDaemon(in: folder), try await SessionBusDaemon(in: other))
        (makerBus, boardBus) = (buses.0.address, buses.1.address)
        processes = [
            try await Self.avahi("maker-host", makerCommand, makerBus, folder),
            try await Self.avahi(Self.boardHost, boardCommand, boardBus, other),
        ]
        keptBuses = [buses.0, buses.1]
    }

    private let keptBuses: [SessionBusDaemon]

    private func end() { for process in processes + [board] { process.kill() } }

    private static func command(
        _ holder: ChildProcess
    ) -> (String, [String]) -> (executable: String, arguments: [String]) {
        { executable, arguments in
            let privileges = namespacePrivileges.isEmpty ? [] : ["--user", "--preserve-credentials"]
            return ("nsenter", ["--target", "\(holder.pid)"] + privileges + ["--net", executable] + arguments)
        }
    }

    private static func check(_ command: (executable: String, arguments: [String])) async throws {
        let finished = try await TestSupport.run(command.executable, command.arguments)
        guard finished.status == .exited(0) else { throw ProcessError("\(command): \(finished.standardError)") }
    }

    /// Returns once it answers on its bus. Its process id's file is the machine's only one: each has its own `/run`.
    static func avahi(
        _ host: String, _ command: (String, [String]) -> (executable: String, arguments: [String]), _ bus: String,
        _ folder: TemporaryFolder
    ) async throws -> ChildProcess {
        try folder.write(
            """
            [server]
            host-name=\(host)
            use-ipv4=yes
            use-ipv6=yes
            allow-interfaces=v0
            disallow-other-stacks=no
            [publish]
            publish-workstation=no
            publish-hinfo=no
            """, to: "avahi.conf")
        let start =
            "mount -t tmpfs tmpfs /run && mkdir /run/avahi-daemon && exec avahi-daemon --no-drop-root --no-chroot "
            + "--no-proc-title --no-rlimits --file \(folder.file("avahi.conf"))"
        let (executable, arguments) = command("unshare", ["--mount", "sh", "-c", start])
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus]
        let process = try await ChildProcess.start(executable, arguments, environment: environment)
        let end = ContinuousClock.now + .waitLimit
        while ContinuousClock.now < end {
            let asked = try await TestSupport.run(
                "busctl",
                [
                    "--system", "call", "org.freedesktop.Avahi", "/", "org.freedesktop.Avahi.Server", "GetState",
                ], environment: environment)
            // AVAHI_SERVER_RUNNING: the host's name is its own.
            if asked.standardOutput.contains("i 2") { return process }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw ProcessError("avahi-daemon does not run: \(process.standardError)")
    }

    /// A board on its side of the link, which announces itself there; returns its journal once it is announced, or runs where it has yet to
    /// get its Wi-Fi.
    func startBoard(_ options: [String], isOnNetwork: Bool = true) async throws -> Journal {
        let journal = Journal(path: folder.file("board-\(UInt32.random(in: .min ... .max)).ndjson"))
        let arguments = SimulatedBoard.arguments(
            [
                "--mapping", "ch-resp", "--announce", "--exit-with-parent", "--journal", journal.path, "--pop",
                SimulatedBoard.proofOfPossession,
            ]
                + (options.contains("--on-network") || options.contains("--local-control")
                    ? [] : ["--on-network", "[::]:0"]) + options)
        let (executable, all) = Self.command(board)(try Executables.path("firmware-sim"), arguments)
        let process = try await ChildProcess.start(
            executable, all, environment: ["TMPDIR": folder.path, "DBUS_SYSTEM_BUS_ADDRESS": boardBus])
        _ = try await process.readyLine()
        if isOnNetwork { _ = try await journal.entry(where: ["event": "state", "change": "announced"]) }
        started.hold(process)
        return journal
    }

    private let started = HeldProcesses()
}

/// Keeps what a test has started until it ends.
private final class HeldProcesses: @unchecked Sendable {
    private var processes: [ChildProcess] = []
    func hold(_ process: ChildProcess) { processes.append(process) }
    deinit { for process in processes { process.kill() } }
}
