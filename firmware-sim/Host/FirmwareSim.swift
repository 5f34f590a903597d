import ArgumentParser
import JSON

/// A simulated ESP32-C3 with RainMaker firmware, for clients that are to be tested against one.
@main
struct FirmwareSim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "firmware-sim",
        abstract: "A simulated ESP32-C3 that waits to be provisioned, over HTTP or on a serial console.",
        discussion: """
            When everything listens, one line of JSON on standard output says where: \
            {"ready":true,"http":…,"console":…,"node_id":…,"qr":{…}}. SIGTERM ends it.
            """)

    @OptionGroup(title: "Where it listens") var listening: ListeningOptions
    @OptionGroup(title: "What kind of board it is") var kind: BoardOptions
    @OptionGroup(title: "The Wi-Fi around it") var radio: RadioOptions
    @OptionGroup(title: "The cloud") var cloud: CloudOptions
    @OptionGroup(title: "Watching it") var watching: WatchingOptions

    mutating func validate() throws {
        if listening.http == nil, listening.console == nil {
            throw ValidationError("nothing to listen on: give --http HOST:PORT or --console LINK, or both")
        }
        if kind.noPop, kind.pop != nil { throw ValidationError("--pop and --no-pop exclude each other") }
        if kind.noPop, kind.security == 2 {
            throw ValidationError("Security 2 needs a proof of possession: leave --no-pop out, or use --security 1")
        }
        if kind.mapping == .challengeResponse, cloud.key == nil {
            throw ValidationError("--mapping ch-resp signs challenges: give the node's private key with --key FILE")
        }
        if kind.mapping == .challengeResponse, kind.unclaimed {
            throw ValidationError("--mapping ch-resp needs a claimed node: leave --unclaimed out")
        }
        if cloud.mqtt != nil, cloud.ca == nil || cloud.cert == nil || cloud.key == nil {
            throw ValidationError("--mqtt connects with certificates: give --ca, --cert and --key as well")
        }
    }

    func run() throws {
        do { try simulate() } catch let error as StartError {
            throw ValidationError(error.message)
        }
    }

    private func simulate() throws {
        let board = try makeBoard()
        let loop = EventLoop()
        loop.add(TerminationSignals(watchesParent: watching.exitWithParent) { loop.stop() })
        loop.add(board)
        var ready: [JSONValue.Member] = [.init("ready", true)]
        if let address = listening.http {
            let server = try SoftAPServer(address, board: board)
            loop.add(server)
            ready.append(.init("http", .string(server.address.description)))
        }
        var console: SerialConsole?
        if let broker = cloud.mqtt, let authority = cloud.ca, let certificate = cloud.cert, let key = cloud.key {
            let link = try CloudLink(
                broker, authority: authority, certificate: certificate, key: key, board: board
            ) { console?.say($0, $1) }
            loop.add(link)
        }
        // Last of all that can fail: it leaves a link in the file system.
        if let link = listening.console {
            let made = try SerialConsole(
                link: link, dialect: listening.consoleDialect, security: kind.security, board: board,
                random: BoardRandom(seed: watching.seed.map { $0 &+ 1 }))
            console = made
            loop.add(made)
            ready.append(.init("console", .string(link)))
        }
        let qrCode = board.identity.qrCode(security: kind.security)
        ready.append(.init("node_id", .string(board.identity.nodeID)))
        ready.append(.init("qr", qrCode))
        board.journal.write("ready", [.init("node_id", .string(board.identity.nodeID))])
        printLine(JSONValue.object(ready).serialized())
        loop.run()
        board.journal.write("end")
    }
}
