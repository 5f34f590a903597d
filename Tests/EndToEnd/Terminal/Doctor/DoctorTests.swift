// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

@testable import rainctl

/// Environments that are broken in one place each, and one that is not.
@Suite("rainctl doctor")
struct DoctorTests {
    /// A machine of a test's own: a cloud, an account, a system tree, and no bus.
    struct Machine: Sendable {
        let folder: TemporaryFolder
        let cloud: SimulatedCloud
        let maker: Maker
        let tree: SystemTree

        var state: String { folder.file("state/rainkit") }
        var configuration: String { folder.file("config/rainkit") }

        func doctor(_ environment: [String: String] = [:], _ more: [String] = []) async throws -> Maker.Outcome {
            try await maker.rainctl(
                ["doctor", "--json"] + more, environment: tree.environment.merging(environment) { $1 })
        }
    }

    static func withMachine(_ body: (Machine) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: true)
            try await body(Machine(folder: folder, cloud: cloud, maker: maker, tree: try SystemTree(in: folder)))
        }
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let check: String
        let reason: String
        let state: String
        /// What `fix` says, or begins with; nil for no command.
        let fix: String?
        /// Breaks the machine; what is returned goes into the environment.
        let inject: @Sendable (Machine) async throws -> [String: String]
        var testDescription: String { "\(check): \(reason)" }

        init(
            _ check: String, _ reason: String, _ state: String = "fail", fix: String?,
            inject: @escaping @Sendable (Machine) async throws -> [String: String]
        ) {
            (self.check, self.reason, self.state, self.fix, self.inject) = (check, reason, state, fix, inject)
        }
    }

    static func profile(_ machine: Machine, base: String) throws {
        let text = try readFile("\(machine.configuration)/deployments.json").replacing("\\/", with: "/")
        machine.folder.writePrivately(
            Array(text.replacing(machine.cloud.api, with: base).utf8), to: "config/rainkit/deployments.json")
    }

    static let faults: [Fault] = [
        Fault("environment", "empty_secret", "warn", fix: "unset RAINKIT_POP") { _ in ["RAINKIT_POP": ""] },
        Fault("environment", "relative_folder", "warn", fix: "unset XDG_DATA_HOME") { _ in ["XDG_DATA_HOME": "data"] },
        Fault("environment", "no_ca_file", fix: "unset RAINKIT_CA_FILE") {
            ["RAINKIT_CA_FILE": $0.folder.file("no.pem")]
        },
        Fault("environment", "no_ca_file", fix: "unset SSL_CERT_FILE") { ["SSL_CERT_FILE": $0.folder.file("no.pem")] },
        Fault("environment", "no_system_root", fix: "unset RAINKIT_SYSTEM_ROOT") {
            ["RAINKIT_SYSTEM_ROOT": $0.folder.file("nowhere")]
        },
        Fault("environment", "other_provider", "warn", fix: "unset RAINKIT_PROVIDER") { _ in
            ["RAINKIT_PROVIDER": "spid"]
        },
        Fault("files", "open_folder", fix: "chmod 700") {
            chmod($0.state, 0o777)
            return [:]
        },
        Fault("files", "open_folder", fix: "chmod 700") {
            chmod($0.configuration, 0o770)
            return [:]
        },
        Fault("files", "symbolic_link", fix: "rm ") {
            rename($0.state, $0.state + ".away")
            symlink($0.state + ".away", $0.state)
            return [:]
        },
        Fault("files", "unreadable_folder", fix: "ls -ld") {
            rename($0.state, $0.state + ".away")
            try $0.folder.write("", to: "state/rainkit")
            return [:]
        },
        Fault("profile", "unknown_profile", fix: "unset RAINKIT_PROFILE") { _ in ["RAINKIT_PROFILE": "nope"] },
        Fault("profile", "unreadable_profiles", fix: "mv ") {
            $0.folder.writePrivately(Array("{\"schema".utf8), to: "config/rainkit/deployments.json")
            return [:]
        },
        Fault("profile", "no_claim_service", "warn", fix: "rainctl profile set bare --claim-url URL") { machine in
            for arguments in [
                ["profile", "add", "bare", "--base-url", machine.cloud.api], ["profile", "use", "bare"],
            ] { _ = try await machine.maker.rainctl(arguments) }
            return [:]
        },
        Fault("session", "not_signed_in", fix: "rainctl login USER") {
            _ = try await $0.maker.rainctl("logout")
            return [:]
        },
        Fault("session", "not_signed_in", fix: "unset RAINKIT_ACCOUNT") { _ in ["RAINKIT_ACCOUNT": "nobody@example.com"]
        },
        Fault("session", "store_unreadable", fix: "rainctl login \(SimulatedCloud.user)") {
            $0.folder.writePrivately(Array("garbage".utf8), to: Maker.sessionFile)
            return [:]
        },
        Fault("cloud", "unreachable", fix: "rainctl profile show") {
            try await $0.cloud.process.terminate()
            return [:]
        },
        Fault("cloud", "no_such_name", fix: "getent hosts") {
            try profile($0, base: "https://no-such-host.invalid")
            return [:]
        },
        Fault("cloud", "timeout", fix: "curl -v") {
            let listener = try SilentListener()
            silent.keep(listener)
            try profile($0, base: "http://127.0.0.1:\(listener.port)")
            return [:]
        },
        Fault("ports", "busy", "warn", fix: "kill 77") { machine in
            let board = try PseudoTerminal()
            boards.keep(board)
            try machine.tree.addDevice("ttyUSB0", socket: "1-1", vendor: "10c4", product: "ea60")
            try machine.tree.link("dev/ttyUSB0", to: board.path)
            try machine.tree.addProcess(77, "minicom", holding: [board.path])
            return [:]
        },
        Fault("ports", "modem_manager", "warn", fix: "sudo systemctl stop ModemManager") { machine in
            let board = try PseudoTerminal()
            boards.keep(board)
            try machine.tree.addDevice("ttyUSB0", socket: "1-1", vendor: "10c4", product: "ea60")
            try machine.tree.link("dev/ttyUSB0", to: board.path)
            try machine.tree.addProcess(78, "ModemManager", holding: [board.path])
            return [:]
        },
        Fault("ports", "modem_manager", "warn", fix: "sudo systemctl mask --now ModemManager") { machine in
            let board = try PseudoTerminal()
            boards.keep(board)
            try machine.tree.addDevice("ttyACM0", socket: "1-1", vendor: "303a", product: "1001", number: "166:0")
            try machine.tree.setProperties(["ID_MM_CANDIDATE=1"], of: "166:0")
            try machine.tree.link("dev/ttyACM0", to: board.path)
            try machine.tree.addProcess(79, "ModemManager")
            return [:]
        },
        // The variable that keeps the tests from this machine's bus.
        Fault("bluetooth", "no_bus", "warn", fix: "unset DBUS_SYSTEM_BUS_ADDRESS") { _ in [:] },
        Fault("wifi", "no_bus", "warn", fix: "unset DBUS_SYSTEM_BUS_ADDRESS") { _ in [:] },
        Fault("network", "no_bus", "warn", fix: "unset DBUS_SYSTEM_BUS_ADDRESS") { _ in [:] },
    ]

    final class Kept<Value>: @unchecked Sendable {
        private var all: [Value] = []
        private var lock = pthread_mutex_t()
        func keep(_ value: Value) {
            pthread_mutex_lock(&lock)
            all.append(value)
            pthread_mutex_unlock(&lock)
        }
    }
    private static let boards = Kept<PseudoTerminal>()
    private static let silent = Kept<SilentListener>()

    @Test("names the problem, and the command that fixes it", arguments: faults + answers)
    func fault(fault: Fault) async throws {
        try await Self.withMachine { machine in
            let environment = try await fault.inject(machine)
            let outcome = try await machine.doctor(environment)
            let findings = outcome.document?["findings"]?.array ?? []
            let found = findings.first { $0["check"]?.string == fault.check && $0["state"] != "ok" }
            #expect(found?["reason"]?.string == fault.reason, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(found?["state"]?.string == fault.state)
            if let fix = fault.fix {
                #expect(found?["fix"]?.string?.hasPrefix(fix) == true, "\(String(describing: found))")
            } else {
                #expect(found?["fix"] == nil)
            }
            let hasFailed = findings.contains { $0["state"] == "fail" }
            #expect(outcome.status == (hasFailed ? 1 : 0), "\(outcome.standardOutput)")
            // One fault does not show up as another: what has no bus of its own is the one thing that all of these machines lack.
            let others = findings.filter {
                // Nor does a session belong to a cloud at another address.
                $0["state"] != "ok" && $0["reason"] != "wrong_context"
                    && !["bluetooth", "wifi", "network", "clock", fault.check].contains($0["check"]?.string)
            }
            if ["environment", "files", "cloud", "ports"].contains(fault.check), fault.reason != "unreadable_folder",
                fault.reason != "symbolic_link", fault.reason != "open_folder"
            {
                #expect(others.isEmpty, "\(others)")
            }
        }
    }

    @Test(
        "of Bluetooth, what is missing",
        arguments: [
            ("absent", "no_adapter", "bluetoothctl list"), ("off", "powered_off", "bluetoothctl power on"),
            ("rfkill", "blocked", "rfkill unblock bluetooth"),
        ])
    func radio(state: String, reason: String, fix: String) async throws {
        try await Self.withMachine { machine in
            let radio = try await SimulatedBluetooth.start(["--ble-fault", "adapter=\(state)"], in: machine.folder)
            let outcome = try await machine.doctor(radio.environment)
            let found = outcome.document?["findings"]?.array?.first { $0["check"] == "bluetooth" }
            #expect(found?["reason"]?.string == reason && found?["fix"]?.string == fix, "\(outcome.standardOutput)")
            // There is a bus, and nobody on it who knows of Wi-Fi.
            let wifi = outcome.document?["findings"]?.array?.first { $0["check"] == "wifi" }
            #expect(
                wifi?["reason"] == "no_network_manager"
                    && wifi?["fix"]?.string?.hasPrefix("sudo apt install network-manager") == true,
                "\(outcome.standardOutput)")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("reports no problem on a complete machine, and fixes problems that need no rights")
    func healthy() async throws {
        try await Self.withMachine { machine in
            let radio = try await SimulatedBluetooth.start([], in: machine.folder)
            let board = try PseudoTerminal()
            defer { withExtendedLifetime(board) {} }
            try machine.tree.addDevice("ttyUSB0", socket: "1-1", vendor: "10c4", product: "ea60")
            try machine.tree.link("dev/ttyUSB0", to: board.path)
            let manager = try await MockedNetworkManager.start(on: radio.bus)
            // Avahi has a network of its own to announce on; its bus is this one.
            let network = try await NetworkNamespace(addresses: [])
            for words in [
                "link add v0 type veth peer name v1", "addr add 10.99.1.1/24 dev v0", "link set v0 up",
                "link set v1 up",
            ] {
                let (program, arguments) = network.command("ip", words.split(separator: " ").map(String.init))
                #expect(try await run(program, arguments).status == .exited(0))
            }
            let avahi = try await LinkedNetworks.avahi(
                "healthy", network.command, radio.bus.address, machine.folder)
            defer { avahi.kill() }
            let outcome = try await machine.doctor(radio.environment)
            #expect(outcome.status == 0 && outcome.document?["failed"] == 0, "\(outcome.standardOutput)")
            let findings = outcome.document?["findings"]?.array ?? []
            #expect(findings.allSatisfy { $0["state"] == "ok" }, "\(findings)")
            // A line for each check of the table.
            let rows = try readFile(Repository.path("docs/doctor.md")).split(separator: "\n")
                .filter { $0.hasPrefix("| `") }
            let checks = rows.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
            #expect(checks.count > 10 && Set(findings.compactMap { $0["check"]?.string }) == Set(checks))
            withExtendedLifetime((manager, network)) {}

            chmod(machine.state, 0o777)
            let broken = try await machine.doctor(radio.environment)
            #expect(broken.status == 1 && broken.failure?["reason"] == "checks_failed")
            let mended = try await machine.doctor(radio.environment, ["--fix"])
            #expect(mended.status == 0, "\(mended.standardOutput)\(mended.standardError)")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }
}
