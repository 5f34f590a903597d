// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct ListeningOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Serve SoftAP-style HTTP there; port 0 lets the system choose.", valueName: "host:port"))
    var http: BindAddress?

    @Option(
        help: ArgumentHelp(
            """
            Serve challenge and response there once the board is on its network, as RainMaker's on-network service does; with nothing \
            else to listen on, the board is on its network from the start.
            """, valueName: "host:port"))
    var onNetwork: BindAddress?

    @Option(
        help: ArgumentHelp(
            "Serve local control there, the node's values for clients on its network, once the board is on it.",
            valueName: "host:port"))
    var localControl: BindAddress?

    @Flag(help: "Announce that through Avahi, on the bus that DBUS_SYSTEM_BUS_ADDRESS names.")
    var announce = false

    @Option(help: ArgumentHelp("What it is announced as; the node id unless given.", valueName: "name"))
    var announceAs: String?

    @Option(help: ArgumentHelp("Make a serial console, and this symbolic link to it.", valueName: "link"))
    var console: String?

    @Option(
        help: ArgumentHelp(
            """
            Have the console on a USB device: native is the chip's own (303a:1001), whose log comes out and which reads no commands, bridge \
            a CP2102N. --system-root says where it is seen.
            """, valueName: "kind"))
    var usb: USBOption?

    @Option(
        help: ArgumentHelp(
            "The folder with a /dev and a /sys of its own in which --usb plugs the board in: rainctl sees it with RAINKIT_SYSTEM_ROOT.",
            valueName: "folder"))
    var systemRoot: String?

    @Option(
        name: .customLong("console-dialect"),
        help: "What the console speaks. (default: protocomm; log-only with --usb native)")
    var givenDialect: ConsoleDialect?

    /// What the console speaks; stock firmware reads no commands from the chip's own USB.
    var consoleDialect: ConsoleDialect { givenDialect ?? (usb == .native ? .logOnly : .protocomm) }
    var hasConsole: Bool { console != nil || usb != nil }

    @Option(
        help: """
            Where other tasks' log lines come on the console: none, between lines, or also inside the hex of an answer, which \
            firmware prints byte by byte.
            """)
    var consoleNoise: ConsoleNoise = .between

    @Option(help: ArgumentHelp("What the board prints on the console when it starts.", valueName: "example"))
    var bootLog: BootLogOption = .switch

    @Option(
        help: ArgumentHelp(
            "Seconds from the first opening of the console until the application listens there.", valueName: "s"))
    var bootDelay = 0.0

    @Flag(help: "The board starts anew each time the console is opened.")
    var resetOnOpen = false

    @Option(
        help: ArgumentHelp(
            """
            What goes wrong on the console: drop-line=P, double-line=P, drop-byte=P, double-byte=P, storm=N (log lines in a second), \
            baud=N (the wire's speed), replug=S (the port goes away so long after it was first opened, and comes back); of Improv: no-url=1, \
            result-first=1, silent-success=1, replug-on-success=1, stopped=1, button=1 (it is not pressed). May be repeated. \
            P is a fraction, S seconds.
            """, valueName: "key=value"))
    var consoleFault: [String] = []

    /// What the faults come to.
    var faults: ConsoleFaults {
        var faults = ConsoleFaults()
        for fault in consoleFault { _ = faults.set(fault) }
        return faults
    }

    func validate() throws {
        guard (usb == nil) == (systemRoot == nil) else { throw ValidationError("--usb and --system-root go together") }
        guard usb == nil || console == nil else {
            throw ValidationError("--usb names the console's port itself: leave --console out")
        }
        var faults = ConsoleFaults()
        for fault in consoleFault where !faults.set(fault) {
            throw ValidationError("--console-fault \(fault) is none of those that --help lists, or has no such value")
        }
    }
}

struct BluetoothOptions: ParsableArguments {
    @Flag(help: "Play org.bluez, with the boards in reach, on the bus that DBUS_SYSTEM_BUS_ADDRESS names.")
    var ble = false

    @Option(
        help: ArgumentHelp(
            "Be a board on this machine's own Bluetooth adapter, through its Bluetooth service.",
            valueName: "hciN|address"))
    var bleAdapter: AdapterChoice?

    @Option(
        help: ArgumentHelp("How many boards, each with a name, an address and a node id of its own.", valueName: "n"))
    var boards = 1

    @Option(
        help: ArgumentHelp(
            """
            Which nodes the boards are: JSON {"nodes":{ID:{"cert":FILE,"key":FILE}}}, as in cloud-sim's first line; \
            board i is the i-th id in sorted order.
            """, valueName: "file"))
    var nodes: String?

    @Option(
        help: ArgumentHelp(
            """
            What the radio does: abort=P, abort-quiet=P, lose=P, losses=N, stale=P, cache=P, connect=S, resolve=S, disconnect=S, \
            forget=S, scan-busy=N, encrypt, stale-bond, readdress, stack=nimble|bluedroid, limit=BYTES, uuids3, noname, adapter=absent|off|rfkill. May be \
            repeated. P is a fraction, S seconds.
            """, valueName: "key[=value]"))
    var bleFault: [String] = []

    /// The board can be provisioned by BLE, whichever radio there is.
    var isServed: Bool { ble || bleAdapter != nil }

    /// What the faults come to.
    var faults: RadioFaults {
        var faults = RadioFaults()
        for fault in bleFault { _ = faults.set(fault) }
        return faults
    }

    mutating func validate() throws {
        var faults = RadioFaults()
        for fault in bleFault where !faults.set(fault) {
            throw ValidationError("--ble-fault \(fault) is none of those that --help lists, or has no such value")
        }
        guard (1...4096).contains(boards) else { throw ValidationError("--boards is 1 to 4096") }
        if ble, bleAdapter != nil { throw ValidationError("--ble and --ble-adapter exclude each other") }
        if !ble, boards > 1 { throw ValidationError("--boards needs --ble") }
        // A real radio has its own faults; what is the board's own can be had there, too.
        guard ble || bleFault.isEmpty || bleAdapter != nil && bleFault.allSatisfy({ $0 == "encrypt" }) else {
            throw ValidationError("--ble-fault needs --ble; with --ble-adapter there is encrypt alone")
        }
    }
}

struct BoardOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The firmware: \(Preset.allCases.map(\.rawValue).joined(separator: ", ")). The options below change single things of \
            it. (default: rainmaker-1.14, with Security 1 on protocomm's console, whose lines are too short for 2)
            """, valueName: "firmware"))
    var preset: Preset?

    @Option(help: "Security scheme: 0, 1 or 2.")
    var security: Int?

    @Option(help: "Patch version of Security 2: 0 or 1. 0 is an older protocomm, which announces none.")
    var patch: Int?

    @Option(help: "Proof of possession; eight random hex digits unless given.")
    var pop: String?

    @Option(help: "User name of Security 2.")
    var username = "wifiprov"

    @Flag(help: "The board wants no proof of possession (Security 1).")
    var noPop = false

    @Option(help: "Service name; PROV_ and six random hex digits unless given.")
    var name: String?

    @Option(help: "Node id; the certificate's common name, or else a random one, unless given.")
    var nodeId: String?

    @Option(help: "How the board is put into an account: user, ch-resp or none.")
    var mapping: MappingOption?

    @Option(help: "An endpoint of the application's own, such as custom-data, that takes anything.")
    var customEndpoint: String?

    @Flag(
        help: "The node's values can be read and set in the provisioning session (get_params, set_params, get_config).")
    var localData = false

    @Option(
        help: ArgumentHelp(
            "The services beside the light: \(ServiceKind.allCases.map(\.rawValue).joined(separator: ", ")), or none.",
            valueName: "services"))
    var services = ServicesOption(Set(ServiceKind.allCases))

    @Flag(help: "The board has its certificate (the default).")
    var claimed = false

    @Flag(help: "The board has to be claimed first: it has a key, and no certificate.")
    var unclaimed = false

    @Option(help: ArgumentHelp("MAC address, 12 hex digits; random unless given.", valueName: "mac"))
    var mac: MACAddressOption?

    @Option(
        help: ArgumentHelp(
            """
            What goes wrong in a claim: not-ready, lose-fragment=N, oversize-csr, wrong-csr or \
            reboot-at=start|init|csr|verify|store. May be repeated: the first claim meets the first, and so on.
            """, valueName: "fault"))
    var claimFault: [ClaimFaultOption] = []

    mutating func validate() throws {
        guard (0...2).contains(security ?? 0) else { throw ValidationError("--security is 0, 1 or 2") }
        guard (0...1).contains(patch ?? 0) else { throw ValidationError("--patch is 0 or 1") }
        if claimed, unclaimed { throw ValidationError("--claimed and --unclaimed exclude each other") }
        if !claimFault.isEmpty, !unclaimed { throw ValidationError("--claim-fault goes with --unclaimed") }
        if let nodeId, nodeId.isEmpty || nodeId.utf8.count > 64 {
            throw ValidationError("--node-id has 1 to 64 bytes")
        }
    }
}

struct RadioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A network, the strongest first; may be repeated. Split at the first colon; SSID: is open.",
            valueName: "ssid:pass"))
    var wifi: [WiFiOption] = []

    @Option(
        help: ArgumentHelp(
            "A network in every detail: ssid_hex, bssid, channel, rssi, auth, passphrase, hidden. May be repeated.",
            valueName: "json"))
    var ap: [AccessPointOption] = []

    @Option(
        help: ArgumentHelp(
            """
            Seconds from an accepted Apply to the address or the verdict of one attempt. Firmware waits 1 s before it joins.
            """, valueName: "s"))
    var joinDelay = 1.4

    @Option(help: ArgumentHelp("Seconds that an active scan stays on each of 13 channels.", valueName: "s"))
    var channelDelay = 0.03

    @Option(help: ArgumentHelp("Attempts before a failure is told; 0 is the old behaviour.", valueName: "n"))
    var attempts: UInt32?

    @Option(help: ArgumentHelp("How many networks of a scan the board keeps.", valueName: "n"))
    var scanEntries = 16

    @Flag(inversion: .prefixedNo, help: "After a failure the board makes itself ready for other credentials.")
    var resetOnFailure: Bool?

    @Flag(help: "The board goes on serving after success.")
    var noAutoStop = false

    @Option(help: "What goes wrong whenever the board joins: auth, not-found, stuck or none.")
    var fail: FaultOption = .none

    @Option(
        help: ArgumentHelp(
            """
            The board loses its power, or the client its link to the board, so many seconds after an accepted Apply (0: with its \
            answer); at a random moment within three unless given.
            """, valueName: "power|link[=s]"))
    var vanish: VanishOption?

    mutating func validate() throws {
        guard (0...3600).contains(joinDelay) else { throw ValidationError("--join-delay is 0 to 3600 seconds") }
        guard (0...60).contains(channelDelay) else { throw ValidationError("--channel-delay is 0 to 60 seconds") }
        guard (1...255).contains(scanEntries) else { throw ValidationError("--scan-entries is 1 to 255") }
        guard attempts ?? 0 <= 1000 else { throw ValidationError("--attempts is at most 1000") }
    }
}

struct CloudOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connect to this broker once on Wi-Fi; offline unless given.", valueName: "host:port"))
    var mqtt: BindAddress?

    @Option(help: ArgumentHelp("Certificate of the authority that the broker's belongs to.", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("The node's certificate; its common name is the node id.", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The node's private key, P-256 or RSA; signs challenges too.", valueName: "file"))
    var key: String?

    @Flag(
        help: ArgumentHelp(
            """
            Report on topics that programs can listen to, not by AWS IoT's basic ingest \
            (CONFIG_ESP_RMAKER_MQTT_USE_BASIC_INGEST_TOPICS=n).
            """))
    var noBasicIngest = false

    @Option(
        help: "How an update of the firmware ends that the cloud begins: success, failed, rejected, delayed or vanish.")
    var update: FirmwareUpdate.End = .success
}

struct WatchingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Makes everything random the same each time.", valueName: "n"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "Append requests, state changes and publishes there, a JSON object a line.", valueName: "file"))
    var journal: String?

    @Option(help: "What to say on standard error: error, warning, info or debug.")
    var logLevel: LogLevel = .error

    @Flag(help: "End when the process that started this one ends.")
    var exitWithParent = false
}
