// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

extension MCPTool {
    /// Tools for boards near this machine.
    static let boardTools: [MCPTool] = [
        MCPTool(
            "discover_boards", "Find boards nearby",
            "Finds boards that are waiting to be provisioned: on the cables of the server's computer, and nearby over Bluetooth and Wi-Fi.",
            [
                Argument(
                    name: "transport", values: DiscoveryTransportName.allValueStrings,
                    help: "Search only over this transport (default: auto, all available transports except on-network)."
                ),
                Argument(name: "seconds", kind: .integer(1...60), help: "Search for this time (default: 10)."),
            ], schema: "discovery"
        ) { call in
            try await call.command(
                "device.discover", ["transport": call["transport"], "timeout": call["seconds"]])
        },
        MCPTool(
            "provision_board", "Put a board into the account",
            """
            Puts a board on Wi-Fi and into the account. The board must be near the computer that runs this server. The network, its password and the board's \
            proof of possession come from the server's options; do not ask the user for them. The call may take two minutes.
            """,
            [
                Argument(
                    name: "transport", values: TransportName.allValueStrings,
                    help: "Reach the board over this transport (default: auto)."),
                Argument(name: "port", help: "The serial port, such as /dev/ttyUSB0."),
                Argument(name: "device_host", help: "The board's address HOST:PORT (only with on-network)."),
                Argument(
                    name: "device_name", help: "The board's own name as discover_boards shows it, such as PROV_a1b2c3."),
                Argument(name: "name", help: "Give the board this name in the account."),
                Argument(name: "seconds", kind: .integer(10...600), help: "Give up after this time (default: 120)."),
            ], access: .named, isDestructive: true, schema: "provision"
        ) { call in
            let settings = call.settings
            // Such a board is on its network already, so it gets no password.
            let isConnected = call.text("transport") == "on-network"
            guard isConnected || call["device_host"] == nil else {
                throw call.failure(
                    ": device_host works only with the transport on-network. With another transport, the Wi-Fi password could go to an arbitrary address."
                )
            }
            guard isConnected || settings.ssid != nil else {
                throw CommandFailure(
                    .usage, reason: "missing_ssid",
                    message:
                        "This server has no network for boards. Start it with --ssid NAME and --passphrase-file FILE, or --open."
                )
            }
            let (ssid, file) = isConnected ? (nil, nil) : (settings.ssid, settings.passphraseFile)
            return try await call.command(
                "provision",
                [
                    "ssid": ssid.map { .string($0) }, "passphrase_file": file.map { .string($0) },
                    "open": settings.isOpen && !isConnected ? true : JSONValue?.none,
                    "pop_file": settings.popFile.map { .string($0) }, "transport": call["transport"],
                    "port": call["port"], "device_host": call["device_host"], "device_name": call["device_name"],
                    "name": call["name"], "timeout": call["seconds"], "events": true,
                ])
        },
    ]
}
