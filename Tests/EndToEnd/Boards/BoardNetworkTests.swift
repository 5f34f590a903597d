// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// A machine with one Wi-Fi adapter, in a network namespace where 192.168.4.1 is the board's. NetworkManager is python-dbusmock's, as
/// `nmcli` sees it; `make test-wifi` does the same with the real one and radios.
@Suite("rainctl: a board's own network, joined through NetworkManager")
struct BoardNetworkTests {
    static let name = "PROV_a1b2c3"

    private struct Scene {
        let maker: Maker
        let mock: MockedNetworkManager
        let board: SimulatedBoard
        let folder: TemporaryFolder

        /// What a run that was killed leaves.
        var hasJournal: Bool { (try? folder.read("state/rainkit/network.json")) != nil }

        func arguments(_ more: [String] = []) -> [String] {
            [
                "provision", "--transport", "softap", "--device-name", BoardNetworkTests.name, "--pop-file",
                folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"),
            ] + more
        }

        func provision(_ more: [String] = []) async throws -> Maker.Outcome {
            try await maker.rainctl(arguments(more), environment: mock.environment)
        }
    }

    private func with(
        boards: [String] = [name], _ options: [String] = [], _ body: (Scene) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let namespace = try await NetworkNamespace(addresses: ["192.168.4.1"])
            let node = "node-network"
            let cloud = try await SimulatedCloud.start(nodes: [node], in: folder, namespace: namespace)
            let maker = try Maker(folder, namespace: namespace)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "192.168.4.1:80", "--name", Self.name] + options + cloud.boardOptions(node: node),
                in: folder,
                namespace: namespace)
            let mock = try await MockedNetworkManager.start(boards: boards, in: folder)
            try await body(Scene(maker: maker, mock: mock, board: board, folder: folder))
        }
    }

    @Test(
        "the board is provisioned, and the machine is back before the cloud confirms", arguments: ["user", "ch-resp"])
    func joins(mapping: String) async throws {
        try await with(["--security", "1", "--mapping", mapping]) { scene in
            let outcome = try await scene.provision(["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"]?.string == "confirmed")
            let said = outcome.standardError
            let joining = try #require(
                said.ranges(of: "joining the Wi-Fi network \(Self.name), and returning to Home").first)
            let back = try #require(said.ranges(of: "back on Home").first)
            #expect(joining.lowerBound < back.lowerBound)
            #expect(try await scene.mock.connection() == "Home")
            #expect(!scene.hasJournal)
        }
    }

    @Test("whatever goes wrong, the machine is back: a wrong proof of possession")
    func wrongProof() async throws {
        try await with(["--security", "1", "--pop", "another"]) { scene in
            let outcome = try await scene.provision(["--json"])
            outcome.expectFailure(10, "wrong_pop", says: "proof of possession")
            #expect(try await scene.mock.connection() == "Home")
            #expect(!scene.hasJournal)
        }
    }

    @Test("a machine that does not get back to its own network is a warning, and what was done is done")
    func notRestored() async throws {
        try await with(["--security", "1"]) { scene in
            try await scene.mock.replace(
                "ActivateConnection", in: "ooo", out: "o",
                by: #"raise dbus.exceptions.DBusException("no", name="org.freedesktop.NetworkManager.Failed")"#)
            let outcome = try await scene.provision(["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let reasons = outcome.document?["warnings"]?.array?.compactMap { $0["reason"]?.string } ?? []
            #expect(reasons.contains("network_not_restored"), "\(outcome.standardOutput)")
        }
    }

    @Test("a network that is not there is said to be, and nothing is left")
    func absent() async throws {
        try await with(boards: ["PROV_other1"], ["--security", "1"]) { scene in
            // The search ends only half a second before the command's time. A busy machine may notice the latter first.
            let outcome = try await scene.maker.rainctl(
                scene.arguments(["--json", "--timeout", "6s"]), environment: scene.mock.environment
            ) { $0.status != 16 }
            outcome.expectFailure(69, "unavailable", says: "No Wi-Fi network \(Self.name) was found")
            #expect(outcome.failure?["reason"]?.string == "not_found")
            #expect(try await scene.mock.connection() == "Home")
        }
    }

    @Test("without a name the only board's network is taken; of several, one is to be named")
    func only() async throws {
        try await with(["--security", "1"]) { scene in
            // The namespace has the board's address itself, which passes for a network that was joined by hand.
            let found = try await scene.maker.rainctl(
                ["device", "discover", "--transport", "softap", "--timeout", "2s", "--json"],
                environment: scene.mock.environment
            ) { $0.document?["boards"]?.array?.isEmpty == false }
            #expect(found.document?["boards"]?.array?.map { $0["name"]?.string } == [Self.name])
            #expect(found.document?["boards"]?.array?.first?["rssi"]?.integer == -64, "\(found.standardOutput)")
            try await scene.mock.add("LAB_1")
            let others = try await scene.maker.rainctl(
                ["device", "discover", "--transport", "softap", "--prefix", "LAB_", "--timeout", "2s", "--json"],
                environment: scene.mock.environment
            ) { $0.document?["boards"]?.array?.isEmpty == false }
            #expect(others.document?["boards"]?.array?.map { $0["name"]?.string } == ["LAB_1"])
        }
    }

    @Test("a network with a password takes it from a file or the QR code, and is left alone without")
    func password() async throws {
        try await with(boards: [], ["--security", "1"]) { scene in
            try await scene.mock.add(Self.name, secured: true)
            let none = try await scene.provision(["--json"])
            none.expectFailure(69, "unavailable", says: "--ap-password-file")
            #expect(none.failure?["reason"]?.string == "network_password_needed")
            let check = """
                assert args[0]["802-11-wireless-security"]["psk"] == "planted-ap-password"
                \(MockedNetworkManager.join)
                """
            try await scene.mock.replace(
                "AddAndActivateConnection2", in: MockedNetworkManager.joinTypes.in,
                out: MockedNetworkManager.joinTypes.out, by: check)
            try scene.folder.write("planted-ap-password", to: "ap")
            let given = try await scene.provision(["--json", "--ap-password-file", scene.folder.file("ap")])
            #expect(given.status == 0, "\(given.standardOutput)\(given.standardError)")
            #expect(!given.standardError.contains("planted-ap-password"))
        }
    }

    @Test("without NetworkManager the network to join is named, and the board asked")
    func byHand() async throws {
        try await with(["--security", "1"]) { scene in
            // The namespace has the address already.
            let here = try await scene.maker.rainctl(scene.arguments(["--json"]))
            #expect(here.status == 0, "\(here.standardOutput)\(here.standardError)")
            let maker = try Maker(scene.folder, namespace: try await NetworkNamespace(addresses: []))
            let elsewhere = try await maker.rainctl(scene.arguments(["--json", "--no-mapping"]))
            elsewhere.expectFailure(69, "unavailable", says: "not on the board's Wi-Fi network \(Self.name)")
            #expect(elsewhere.standardError.contains("Join the Wi-Fi network \(Self.name) yourself"))
        }
    }

    @Test("a person who uses this machine over SSH is asked before it leaves its Wi-Fi", arguments: ["yes", "no"])
    func overSSH(answer: String) async throws {
        try await with(["--security", "1", "--join-delay", "0"]) { scene in
            let ssh = ["SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"]
            let person = try await scene.maker.atTerminal(
                scene.arguments(["--name", "Kitchen lamp"]), environment: scene.mock.environment.merging(ssh) { $1 })
            try await person.hears("An SSH session over that Wi-Fi ends.")
            try await person.answers("Continue? Type yes: ", answer)
            let end = try await person.wait()
            let requests = try scene.board.journal.entries(where: ["event": "request"])
            if answer == "yes" {
                #expect(end == .exited(0), "\(person.transcript)")
            } else {
                #expect(end == .exited(130), "\(person.transcript)")
                #expect(person.transcript.contains("Cancelled: nothing was changed."))
                #expect(requests.isEmpty)
            }
            #expect(try await scene.mock.connection() == "Home")
        }
    }

    @Test("a board on a cable whose log names its network is joined there, and no proof of possession is typed")
    func cable() async throws {
        try await withTemporaryFolder { other in
            let port = other.file("port")
            let options = [
                "--security", "2", "--mapping", "ch-resp", "--console", port, "--console-dialect", "log-only",
            ]
            try await with(options + ["--boot-log", "switch"]) { scene in
                let outcome = try await scene.maker.rainctl(
                    [
                        "provision", "--port", port, "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                        scene.folder.file("wifi"), "--json",
                    ], environment: scene.mock.environment)
                #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
                #expect(outcome.document?["mapping"] == "confirmed")
                #expect(outcome.standardError.contains("joining the Wi-Fi network \(Self.name)"))
                #expect(try await scene.mock.connection() == "Home")
            }
        }
    }

    @Test("without NetworkManager a person at a terminal joins by hand, and that is noticed")
    func noticed() async throws {
        try await withTemporaryFolder { folder in
            let namespace = try await NetworkNamespace(addresses: [])
            let maker = try Maker(folder, namespace: namespace)
            let person = try await maker.atTerminal(
                [
                    "provision", "--no-mapping", "--transport", "softap", "--device-name", Self.name, "--pop-file",
                    folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"),
                ])
            try await person.hears("1. Join the Wi-Fi network \(Self.name)")
            try await namespace.add("192.168.4.1")
            let board = try await SimulatedBoard.start(
                ["--http", "192.168.4.1:80", "--name", Self.name, "--security", "1", "--mapping", "user"]
                    + ["--join-delay", "0.2"], in: folder, namespace: namespace)
            defer { board.process.kill() }
            try await person.hears("On Wi-Fi")
            #expect(try await person.wait() == .exited(0))
        }
    }

    @Test("the same for a board on a cable, and while the person is there, nothing needs the cloud")
    func cableByHand() async throws {
        try await withTemporaryFolder { folder in
            let namespace = try await NetworkNamespace(addresses: [])
            let node = "node-by-hand"
            let cloud = try await SimulatedCloud.start(nodes: [node], in: folder, namespace: namespace)
            let maker = try Maker(folder, namespace: namespace)
            try await maker.signIn(to: cloud)
            let port = folder.file("port")
            // Two processes are one board, because the address of its network is there only later.
            let common =
                ["--name", Self.name, "--security", "2", "--mapping", "ch-resp"] + (try cloud.boardOptions(node: node))
            let cable = try await SimulatedBoard.start(
                ["--console", port, "--console-dialect", "log-only", "--boot-log", "switch"] + common, in: folder,
                namespace: namespace)
            defer { cable.process.kill() }
            let person = try await maker.atTerminal(
                [
                    "provision", "--port", port, "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"),
                ])
            try await person.hears("1. Join the Wi-Fi network \(Self.name)")
            // The board's network has no internet.
            cloud.process.signal(SIGSTOP)
            defer { cloud.process.signal(SIGCONT) }
            try await namespace.add("192.168.4.1")
            try await person.hears("2. This machine is on \(Self.name)")
            let board = try await SimulatedBoard.start(
                ["--http", "192.168.4.1:80", "--join-delay", "0.2"] + common, in: folder, namespace: namespace)
            defer { board.process.kill() }
            try await person.hears("3. You can return to your own network now")
            try await namespace.remove("192.168.4.1")
            try await person.hears("left the board's network")
            cloud.process.signal(SIGCONT)
            try await person.hears("In your account")
            let end = try await person.wait(answering: "Name of the board (Enter for Light): ", "")
            #expect(end == .exited(0), "\(person.transcript)")
        }
    }

    @Test("Ctrl-C in the middle brings the machine back")
    func interrupted() async throws {
        try await with(["--security", "1", "--join-delay", "60"]) { scene in
            let child = try await scene.maker.start(scene.arguments(), environment: scene.mock.environment)
            _ = try await scene.board.journal.entry(where: ["change": "credentials_received"])
            #expect(try await scene.mock.connection() == Self.name)
            #expect(scene.hasJournal)
            child.signal(2)
            #expect(try await child.wait() == .exited(130))
            #expect(try await scene.mock.connection() == "Home")
            #expect(!scene.hasJournal)
        }
    }

    @Test("after kill -9 the next start brings the machine back, and one beside it does not")
    func killed() async throws {
        try await with(["--security", "1", "--join-delay", "60"]) { scene in
            let child = try await scene.maker.start(scene.arguments(), environment: scene.mock.environment)
            _ = try await scene.board.journal.entry(where: ["change": "credentials_received"])
            // While it is under way, nobody else takes the adapter, or brings it back.
            try await scene.mock.add("PROV_ffffff")
            let busy = try await scene.maker.rainctl(
                ["device", "info", "--transport", "softap", "--device-name", "PROV_ffffff", "--json"],
                environment: scene.mock.environment)
            busy.expectFailure(75, "temporary", says: "Another run")
            #expect(busy.failure?["reason"] == "wifi_busy")
            let beside = try await scene.maker.rainctl(["whoami"], environment: scene.mock.environment)
            #expect(beside.status == 0 && !beside.standardError.contains("back on"), "\(beside.standardError)")
            #expect(scene.hasJournal)
            child.kill()
            _ = try await child.wait()
            #expect(try await scene.mock.connection() == Self.name)
            #expect(scene.hasJournal)
            let next = try await scene.maker.rainctl(["whoami"], environment: scene.mock.environment)
            #expect(next.status == 0, "\(next.standardError)")
            #expect(next.standardError.contains("back on Home"), "\(next.standardError)")
            #expect(try await scene.mock.connection() == "Home")
            #expect(!scene.hasJournal)
        }
    }
}
