// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct ListeningOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Serve HTTP at this address, as a board does on its own access point (port 0: any free port).",
            valueName: "host:port"))
    var http: BindAddress?

    @Option(
        help: ArgumentHelp(
            """
            Serve RainMaker's on-network service (challenge-response) at this address, once the board is on Wi-Fi. Without --http, a \
            console or Bluetooth, the board is on Wi-Fi from the start.
            """, valueName: "host:port"))
    var onNetwork: BindAddress?

    @Option(
        help: ArgumentHelp(
            "Serve local control (the node's values for clients on its network) at this address, once the board is on Wi-Fi.",
            valueName: "host:port"))
    var localControl: BindAddress?

    @Flag(
        help:
            "Announce the on-network service and local control through Avahi, on the bus that DBUS_SYSTEM_BUS_ADDRESS names."
    )
    var announce = false

    @Option(help: ArgumentHelp("Announce the services under this name (default: the node id).", valueName: "name"))
    var announceAs: String?

    @Option(help: ArgumentHelp("Create a serial console, and this symbolic link to it.", valueName: "link"))
    var console: String?

    @Option(
        help: ArgumentHelp(
            """
            Put the console on a simulated USB device (needs --system-root). native is the chip's own USB (303a:1001), which prints the \
            log but reads no commands. bridge is a CP2102N.
            """, valueName: "kind"))
    var usb: USBOption?

    @Option(
        help: ArgumentHelp(
            "Create the USB device in this folder, which gets its own /dev and /sys. Set RAINKIT_SYSTEM_ROOT to the folder for rainctl.",
            valueName: "folder"))
    var systemRoot: String?

    @Option(
        name: .customLong("console-dialect"),
        help: "Protocol of the console (default: protocomm; log-only with --usb native).")
    var givenDialect: ConsoleDialect?

    /// The console's protocol. Stock firmware reads no commands from the chip's own USB.
    var consoleDialect: ConsoleDialect { givenDialect ?? (usb == .native ? .logOnly : .protocomm) }
    var hasConsole: Bool { console != nil || usb != nil }

    @Option(
        help: """
            Where the log lines of other tasks appear on the console: nowhere (none), between lines, or also inside the hex digits of an \
            answer.
            """)
    var consoleNoise: ConsoleNoise = .between

    @Option(help: ArgumentHelp("Print this example output when the board starts.", valueName: "example"))
    var bootLog: BootLogOption = .switch

    @Option(
        help: ArgumentHelp(
            "Seconds from the first opening of the console until the application reads commands.", valueName: "s"))
    var bootDelay = 0.0

    @Flag(help: "Restart the board each time the console is opened.")
    var resetOnOpen = false

    @Flag(help: "Start the board before the console is opened, so that the output of its start is lost.")
    var alreadyRunning = false

    @Flag(
        help: """
            Give the console's port NAME the lines DTR and RTS. rainctl writes their state to the FIFO .NAME.lines beside the port. To \
            press RESET, write '20' into that FIFO with printf.
            """)
    var modemLines = false

    @Option(
        help: ArgumentHelp(
            """
            Fault of the console; repeatable: drop-line=P, double-line=P, drop-byte=P, double-byte=P, storm=N (log lines per second), \
            baud=N (the wire's speed), replug=S (the port disappears S after its first opening, and comes back). For Improv: no-url=1, \
            result-first=1, silent-success=1, replug-on-success=1, stopped=1, button=1 (it is not pressed). \
            P is a fraction, S seconds.
            """, valueName: "key=value"))
    var consoleFault: [String] = []

    /// The faults as values.
    var faults: ConsoleFaults {
        var faults = ConsoleFaults()
        for fault in consoleFault { _ = faults.set(fault) }
        return faults
    }

    func validate() throws {
        guard (usb == nil) == (systemRoot == nil) else {
            throw ValidationError("give both --usb and --system-root, or neither")
        }
        guard usb == nil || console == nil else {
            throw ValidationError("--usb itself names the console's port: omit --console")
        }
        guard hasConsole || !(alreadyRunning || modemLines) else {
            throw ValidationError("--already-running and --modem-lines need a console: give --console or --usb")
        }
        var faults = ConsoleFaults()
        for fault in consoleFault where !faults.set(fault) {
            throw ValidationError("--console-fault \(fault) is not in the list of --help, or its value is invalid")
        }
    }
}

struct BluetoothOptions: ParsableArguments {
    @Flag(
        help:
            "Simulate the Bluetooth service org.bluez, with boards in range, on the bus that DBUS_SYSTEM_BUS_ADDRESS names."
    )
    var ble = false

    @Option(
        help: ArgumentHelp(
            "Simulate a board on this machine's Bluetooth adapter, through its Bluetooth service.",
            valueName: "hciN|address"))
    var bleAdapter: AdapterChoice?

    @Option(
        help: ArgumentHelp("Number of boards, each with its own name, address and node id.", valueName: "n"))
    var boards = 1

    @Option(
        help: ArgumentHelp(
            """
            Read the boards' nodes from this file: JSON {"nodes":{ID:{"cert":FILE,"key":FILE}}}, as in cloud-sim's first line. Board i \
            gets the i-th id in sorted order. For a single board, --node-id can choose the node.
            """, valueName: "file"))
    var nodes: String?

    @Option(
        help: ArgumentHelp(
            """
            Fault of the radio: abort=P, abort-quiet=P, lose=P, losses=N, stale=P, cache=P, connect=S, resolve=S, disconnect=S, forget=S, \
            scan-busy=N, encrypt, stale-bond, readdress, stack=nimble|bluedroid, limit=BYTES, uuids3, noname, adapter=absent|off|rfkill, \
            slots=N, slots-quiet=N, removed-after=N, off-after=N, broken-after=N. Repeatable. A fault that begins with hciN: is only for \
            that adapter. P is a fraction, S seconds.
            """, valueName: "key[=value]"))
    var bleFault: [String] = []

    @Option(
        help: ArgumentHelp("Number of Bluetooth adapters (hci0, hci1, …), all in range of all boards.", valueName: "n"))
    var adapters = 1

    /// The board can be provisioned by BLE, with either radio.
    var isServed: Bool { ble || bleAdapter != nil }

    /// The faults of the boards and of the first adapter.
    var faults: RadioFaults { adapterFaults[0] }

    /// The faults of each adapter.
    var adapterFaults: [RadioFaults] {
        var faults = Array(repeating: RadioFaults(), count: adapters)
        for text in bleFault { _ = Self.set(text, in: &faults) }
        return faults
    }

    /// Sets `KEY[=VALUE]` for all adapters, or `hciN:KEY[=VALUE]` for one. Returns false if it is invalid.
    private static func set(_ text: String, in faults: inout [RadioFaults]) -> Bool {
        guard text.hasPrefix("hci"), let colon = text.firstIndex(of: ":") else {
            var isValid = true
            for number in faults.indices where !faults[number].set(text) { isValid = false }
            return isValid
        }
        guard let number = Int(text[..<colon].dropFirst(3)), faults.indices.contains(number) else { return false }
        return faults[number].set(String(text[text.index(after: colon)...]))
    }

    mutating func validate() throws {
        guard (1...16).contains(adapters) else { throw ValidationError("--adapters must be from 1 to 16") }
        var faults = Array(repeating: RadioFaults(), count: adapters)
        for fault in bleFault where !Self.set(fault, in: &faults) {
            throw ValidationError("--ble-fault \(fault) is not in the list of --help, or its value is invalid")
        }
        guard (1...4096).contains(boards) else { throw ValidationError("--boards must be from 1 to 4096") }
        if ble, bleAdapter != nil { throw ValidationError("give --ble or --ble-adapter, but not both") }
        if !ble, adapters > 1 { throw ValidationError("--adapters needs --ble") }
        if !ble, boards > 1 { throw ValidationError("--boards needs --ble") }
        // A real radio has its own faults; the board's own faults are available there, too.
        guard ble || bleFault.isEmpty || bleAdapter != nil && bleFault.allSatisfy({ $0 == "encrypt" }) else {
            throw ValidationError("--ble-fault needs --ble; --ble-adapter supports only encrypt")
        }
    }
}

struct BoardOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The firmware: \(Preset.allCases.map(\.rawValue).joined(separator: ", ")). The options below change details of the firmware. \
            (default: rainmaker-1.14; with Security 1 on protocomm's console, whose lines are too short for Security 2)
            """, valueName: "firmware"))
    var preset: Preset?

    @Option(help: "Security scheme: 0, 1 or 2.")
    var security: Int?

    @Option(
        help: "Patch version of Security 2: 0 or 1. 0 simulates an older protocomm, which announces no patch version.")
    var patch: Int?

    @Option(help: "Proof of possession (default: eight random hex digits).")
    var pop: String?

    @Option(help: "User name of Security 2.")
    var username = "wifiprov"

    @Flag(help: "The board requires no proof of possession (Security 1).")
    var noPop = false

    @Option(help: "Service name (default: PROV_ and six random hex digits).")
    var name: String?

    @Option(help: "Node id (default: the certificate's common name, or a random one).")
    var nodeId: String?

    @Option(help: "How the board is put into an account: user, ch-resp or none.")
    var mapping: MappingOption?

    @Option(help: "Add an endpoint of the application, such as custom-data, which accepts all data.")
    var customEndpoint: String?

    @Flag(
        help:
            "Let clients read and set the node's values in the provisioning session (get_params, set_params, get_config)."
    )
    var localData = false

    @Option(
        help: ArgumentHelp(
            "Services in addition to the light: \(ServiceKind.allCases.map(\.rawValue).joined(separator: ", ")), or none.",
            valueName: "services"))
    var services = ServicesOption(Set(ServiceKind.allCases))

    @Option(
        help: ArgumentHelp(
            """
            Add a sensor, which reports at this interval. The cloud keeps full time series of Temperature, Energy and Open, simple ones of \
            Humidity and State, and none of Battery.
            """, valueName: "s"))
    var sensor: Double?

    @Option(
        help: ArgumentHelp(
            "Add another device: \(Appliance.Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "device"))
    var device: Appliance.Kind?

    @Flag(
        help:
            "The board does not know the time of day. It sends no time series, and delays updates that have a time window."
    )
    var noClock = false

    @Flag(help: "The board has its certificate (the default).")
    var claimed = false

    @Flag(help: "The board must be claimed first: it has a key, but no certificate.")
    var unclaimed = false

    @Option(help: ArgumentHelp("MAC address, 12 hex digits (default: random).", valueName: "mac"))
    var mac: MACAddressOption?

    @Option(
        help: ArgumentHelp(
            """
            Fault of a claim: not-ready, lose-fragment=N, oversize-csr, wrong-csr or \
            reboot-at=start|init|csr|verify|store. Repeatable: the first claim gets the first fault, and so on.
            """, valueName: "fault"))
    var claimFault: [ClaimFaultOption] = []

    mutating func validate() throws {
        guard (0...2).contains(security ?? 0) else { throw ValidationError("--security must be 0, 1 or 2") }
        guard (0...1).contains(patch ?? 0) else { throw ValidationError("--patch must be 0 or 1") }
        if let sensor, !(0.1...86_400).contains(sensor) {
            throw ValidationError("--sensor must be from 0.1 to 86400 seconds")
        }
        if claimed, unclaimed { throw ValidationError("give --claimed or --unclaimed, but not both") }
        if !claimFault.isEmpty, !unclaimed { throw ValidationError("--claim-fault needs --unclaimed") }
        if let nodeId, nodeId.isEmpty || nodeId.utf8.count > 64 {
            throw ValidationError("--node-id must have 1 to 64 bytes")
        }
    }
}

struct RadioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A network in the board's range, the strongest first; repeatable. The first colon ends the name. SSID: is an open network.",
            valueName: "ssid:pass"))
    var wifi: [WiFiOption] = []

    @Option(
        help: ArgumentHelp(
            "A network in the board's range with all details: ssid_hex, bssid, channel, rssi, auth, passphrase, hidden; repeatable.",
            valueName: "json"))
    var ap: [AccessPointOption] = []

    @Option(
        help: ArgumentHelp(
            """
            Seconds from the accepted Wi-Fi settings until the board has an address, or one attempt has failed. (Real firmware waits 1 s \
            before it joins.)
            """, valueName: "s"))
    var joinDelay = 1.4

    @Option(help: ArgumentHelp("Seconds that an active scan stays on each of 13 channels.", valueName: "s"))
    var channelDelay = 0.03

    @Option(
        help: ArgumentHelp(
            "Number of attempts to join before the board reports a failure; 0 simulates older firmware.", valueName: "n"
        ))
    var attempts: UInt32?

    @Option(help: ArgumentHelp("Maximum number of networks that the board keeps from a scan.", valueName: "n"))
    var scanEntries = 16

    @Flag(inversion: .prefixedNo, help: "After a failure, the board accepts other credentials.")
    var resetOnFailure: Bool?

    @Flag(help: "The board keeps serving after success.")
    var noAutoStop = false

    @Option(help: "Fault each time that the board joins a network: auth, not-found, stuck or none.")
    var fail: FaultOption = .none

    @Option(
        help: ArgumentHelp(
            """
            After the board has accepted the Wi-Fi settings, it loses its power (power), or the client loses the board (link). S is the \
            delay in seconds (default: random, up to three seconds). With 0, the client does not get the answer either.
            """, valueName: "power|link[=s]"))
    var vanish: VanishOption?

    mutating func validate() throws {
        guard (0...3600).contains(joinDelay) else {
            throw ValidationError("--join-delay must be from 0 to 3600 seconds")
        }
        guard (0...60).contains(channelDelay) else {
            throw ValidationError("--channel-delay must be from 0 to 60 seconds")
        }
        guard (1...255).contains(scanEntries) else { throw ValidationError("--scan-entries must be from 1 to 255") }
        guard attempts ?? 0 <= 1000 else { throw ValidationError("--attempts must be at most 1000") }
    }
}

struct CloudOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connect to this broker once the board is on Wi-Fi (default: stay offline).", valueName: "host:port"))
    var mqtt: BindAddress?

    @Option(help: ArgumentHelp("Certificate of the broker's certificate authority.", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("The node's certificate; its common name is the node id.", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The node's private key, P-256 or RSA, which also signs challenges.", valueName: "file"))
    var key: String?

    @Flag(
        help: ArgumentHelp(
            """
            Report on topics that programs can subscribe to, instead of AWS IoT's basic ingest \
            (CONFIG_ESP_RMAKER_MQTT_USE_BASIC_INGEST_TOPICS=n).
            """))
    var noBasicIngest = false

    @Flag(help: "Act as a node of RainMaker Neo, with its topics and its shadow, as for cloud-sim neo.")
    var neo = false

    @Option(
        help: """
            Result of a firmware update from the cloud: success (the board downloads the image and checks it), failed, rejected, delayed or \
            vanish.
            """)
    var update: SimulatedUpdate.End = .success

    @Option(
        help: """
            How the board gets updates: params (OTA.URL), topics (otafetch, otaurl, otastatus), or approval (topics, and the user approves \
            each update with OTA.Operation).
            """)
    var updateBy = UpdateWay.params

    @Option(help: ArgumentHelp("Number of attempts to download an image.", valueName: "n"))
    var updateAttempts = 3

    @Option(
        help: ArgumentHelp(
            "Seconds until the board requests an update again after its last attempt failed.", valueName: "s"))
    var updateRefetch = 300.0

    @Option(
        help: ArgumentHelp(
            "Raise this alert when the cloud sets a value. The text is not escaped, as in firmware.", valueName: "text")
    )
    var alert: String?

    @Flag(help: "Also raise an alert with each value that the cloud sets (esp_rmaker_param_update_and_notify).")
    var notify = false

    func validate() throws {
        guard (1...10).contains(updateAttempts) else { throw ValidationError("--update-attempts must be from 1 to 10") }
        guard (0.1...86_400).contains(updateRefetch) else {
            throw ValidationError("--update-refetch must be from 0.1 to 86400 seconds")
        }
    }
}

struct WatchingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Seed for all random values. With the same seed, all values are the same each time.", valueName: "n"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "Append requests, state changes and published messages to this file, one JSON object on each line.",
            valueName: "file"))
    var journal: String?

    @Option(help: "Log level on standard error: error, warning, info or debug.")
    var logLevel: LogLevel = .error

    @Flag(help: "End when the process that started this one ends.")
    var exitWithParent = false
}
