// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore
import Glibc
import RainDBus
import RainJSON

/// A simulated ESP32-C3 with RainMaker firmware, for testing clients.
@main
struct FirmwareSim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "firmware-sim",
        abstract: "A simulated ESP32-C3 that can be provisioned over HTTP, a serial console or Bluetooth.",
        discussion: """
            Example: firmware-sim --http 127.0.0.1:8080 --pop abcd1234 --wifi Home:password

            When the board is ready, firmware-sim prints one line of JSON with the addresses: {"ready": true, "http": …, "console": …, \
            "ble": {"adapter": …, "boards": […]}, "node_id": …, "qr": {…}}. SIGTERM ends firmware-sim.
            """)

    @OptionGroup(title: "Addresses and ports") var listening: ListeningOptions
    @OptionGroup(title: "Bluetooth") var bluetooth: BluetoothOptions
    @OptionGroup(title: "Kind of board") var kind: BoardOptions
    @OptionGroup(title: "Wi-Fi networks") var radio: RadioOptions
    @OptionGroup(title: "The cloud") var cloud: CloudOptions
    @OptionGroup(title: "Observation") var watching: WatchingOptions

    mutating func validate() throws {
        if !isProvisionable, listening.onNetwork == nil, listening.localControl == nil {
            throw ValidationError(
                "nothing to listen on: give at least one of --http HOST:PORT, --console LINK, --ble, --ble-adapter ADAPTER, "
                    + "--on-network HOST:PORT and --local-control HOST:PORT")
        }
        let isOnNetwork = listening.onNetwork != nil || listening.localControl != nil
        if listening.announce || listening.announceAs != nil, !isOnNetwork || !listening.announce {
            throw ValidationError(
                "--announce needs --on-network or --local-control, and --announce-as needs --announce")
        }
        if listening.announceAs.map({ !(1...63).contains($0.utf8.count) }) == true {
            throw ValidationError("the name of --announce-as must have 1 to 63 bytes")
        }
        if listening.onNetwork != nil, firmware.mapping != .challengeResponse {
            throw ValidationError("--on-network needs --mapping ch-resp, because the board answers challenges there")
        }
        if isOnNetwork, bluetooth.boards > 1 {
            throw ValidationError("--on-network and --local-control are for one board, but --boards asks for several")
        }
        if bluetooth.boards > 1 {
            if kind.name != nil { throw ValidationError("--name is for one board, but --boards asks for several") }
            if kind.nodeId != nil || cloud.cert != nil || cloud.key != nil {
                throw ValidationError(
                    "--node-id, --cert and --key are for one board: use --nodes FILE for several boards")
            }
        }
        if bluetooth.nodes != nil, cloud.cert != nil || cloud.key != nil {
            throw ValidationError("--nodes FILE replaces --cert and --key: omit these two options")
        }
        let hasKey = cloud.key != nil || bluetooth.nodes != nil
        if kind.noPop, kind.pop != nil { throw ValidationError("give --pop or --no-pop, but not both") }
        if firmware.security == 2, kind.username.isEmpty { throw ValidationError("Security 2 needs a user name") }
        if kind.noPop, firmware.security == 2 {
            throw ValidationError("Security 2 needs a proof of possession: omit --no-pop, or use --security 1")
        }
        let hasCertificate = cloud.cert != nil || bluetooth.nodes != nil
        if kind.unclaimed, hasCertificate {
            throw ValidationError("an unclaimed board has no certificate: omit --unclaimed, or omit --cert and --nodes")
        }
        if kind.mac != nil, bluetooth.boards > 1 {
            throw ValidationError("--mac is for one board, but --boards asks for several")
        }
        if kind.mapping == .challengeResponse, !hasKey, !kind.unclaimed {
            throw ValidationError("--mapping ch-resp needs the node's private key to sign challenges: give --key FILE")
        }
        if radio.vanish != nil, bluetooth.isServed {
            throw ValidationError("--vanish works only with --http and --console: over BLE, use --ble-fault")
        }
        if cloud.mqtt != nil, cloud.ca == nil || !kind.unclaimed && (!hasCertificate || !hasKey) {
            throw ValidationError(
                "--mqtt needs --ca. Without --unclaimed, it also needs --nodes, or both --cert and --key")
        }
        if cloud.neo, cloud.mqtt == nil || kind.unclaimed {
            throw ValidationError("--neo needs --mqtt and a claimed node: omit --unclaimed")
        }
        if kind.name.map({ $0.utf8.count > 29 }) == true, bluetooth.isServed {
            throw ValidationError(
                "over BLE, the name of --name must have at most 29 bytes: a scan response has no space for more")
        }
    }

    func run() throws {
        do { try simulate() } catch let error as StartError {
            throw ValidationError(error.message)
        }
    }

    private func simulate() throws {
        DescriptorLimit.raise()
        let journal = try Journal(path: watching.journal)
        let boards = try makeBoards(journal)
        let board = boards[0]
        let loop = EventLoop()
        loop.add(TerminationSignals(watchesParent: watching.exitWithParent) { loop.stop() })
        let vanishing = radio.vanish.map {
            Vanishing($0, board, on: loop, random: BoardRandom(seed: watching.seed.map { $0 &+ 3 }))
        }
        // Before the board: in its last pass nothing of the board comes after it.
        if let vanishing { loop.add(vanishing) }
        for board in boards { loop.add(board) }
        var ready: [JSONValue.Member] = [.init("ready", true)]
        if let address = listening.http {
            let server = try SoftAPServer(address, board: board)
            loop.add(server)
            vanishing?.ways.append(server)
            ready.append(.init("http", .string(server.address.description)))
        }
        if let address = listening.onNetwork {
            ready.append(.init("on_network", .string(try serveOnNetwork(address, board, on: loop))))
        }
        if let address = listening.localControl {
            ready.append(.init("local_control", .string(try serveLocalControl(address, board, on: loop))))
        }
        let qrCode = board.identity.qrCode(
            security: firmware.security, transport: bluetooth.isServed ? "ble" : "softap")
        var console: SerialConsole?
        if let broker = cloud.mqtt, let authority = cloud.ca {
            for each in boards {
                let link = try CloudLink(broker, authority: authority, board: each, isNeo: cloud.neo) { tag, text in
                    if each === board { console?.say(tag, text) }
                }
                link.usesBasicIngest = !cloud.noBasicIngest
                loop.add(link)
                loop.add(ImageDownload(each))
            }
        }
        if bluetooth.ble { ready.append(.init("ble", try serveRadio(boards, on: loop))) }
        // The last step that can fail, because it leaves a link in the file system.
        if listening.hasConsole {
            let made = try SerialConsole(
                try consolePort(of: board), listening, qrCode: qrCode, board: board,
                noise: LogNoise(
                    listening.consoleNoise, storm: listening.faults.storm,
                    random: BoardRandom(seed: watching.seed.map { $0 &+ 1 })))
            console = made
            loop.add(made)
            vanishing?.ways.append(made)
            vanishing?.cable = made
            ready.append(.init("console", .string(made.link)))
        }
        if let choice = bluetooth.bleAdapter {
            do {
                let encrypted = bluetooth.faults.needsPairing
                ready.append(.init("ble", try serveAdapter(choice, board, isEncrypted: encrypted, on: loop)))
            } catch {
                console?.shutDown()
                throw error
            }
        }
        if boards.count == 1 {
            ready.append(.init("node_id", .string(board.identity.nodeID)))
            ready.append(.init("qr", qrCode))
        }
        // All parts that react to it exist now.
        if isOnNetworkAlready { board.step { $0.startProvisioned() } }
        journal.write("ready", boards.count == 1 ? [.init("node_id", .string(board.identity.nodeID))] : [])
        printLine(JSONValue.object(ready).serialized())
        loop.run()
        journal.write("end")
    }

    /// Puts the boards in range of a simulated radio, and returns the radio's description.
    private func serveRadio(_ boards: [Board], on loop: EventLoop) throws -> JSONValue {
        let faults = bluetooth.faults
        let servers = boards.map { GATTServer(board: $0, stack: faults.stack, limit: faults.valueLimit) }
        var random = BoardRandom(seed: watching.seed.map { $0 &+ 2 })
        let service = try BlueZService(
            .system, servers: servers, faults: bluetooth.adapterFaults,
            seed: UInt64(random.number()) << 32 | UInt64(random.number())
        ) { loop.stop() }
        loop.add(service)
        return .object([
            .init("adapter", .string(BlueZPath.adapterText(0))),
            .init("boards", .array(boards.map { $0.identity.bluetoothSummary })),
        ])
    }
}

/// Why the simulator could not start, in one sentence.
struct StartError: Error {
    fileprivate var message: String
    init(_ message: String) { self.message = message }
}

/// Writes a line to standard output at once, whatever it is connected to.
private func printLine(_ line: [UInt8]) {
    let line = line + [0x0A]
    _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
