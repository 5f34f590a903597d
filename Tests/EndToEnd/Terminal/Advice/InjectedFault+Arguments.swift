// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// What can be wrong with a command's arguments.
extension InjectedFault {
    static let ofArguments: [InjectedFault] = [
        argument("a command that does not exist", "frobnicate", "frobnicate"),
        argument("a misspelt option", "--pasphrase", "provision", "--pasphrase", "planted"),
        argument("an option without a value", "--ssid", "provision", "--ssid"),
        argument("a time limit that is not a time", "soon", "provision", "--timeout", "soon"),
        argument("a time limit of zero", "--timeout", "provision", "--timeout", "0"),
        argument("a negative time limit", "'-5' is invalid", "provision", "--timeout", "-5"),
        argument(
            "a port that does not exist for the browser's answer", "ports are 1 to 65535", "login", "--callback-port",
            "70000"),
        argument("a time limit with another unit", "as in 6s, 500ms or 2m", "whoami", "--timeout", "2min"),
        argument("a password as an argument", "cannot be an argument", "login", "me@example.com", "planted"),
        argument("a whole command in quotation marks", "as one argument", "node list"),
        argument("a negative value without --", "taken for an option", "set", "Room/Thermostat", "-5"),
        argument(
            "an option before the subcommand", "goes after the command", "account", "--provider", "oidc", "status"),
        argument(
            "several boards without commas", "with commas", "node", "share", "add", "Light", "Hall", "--with", "bob"),
        argument("values without a board", "board is missing", "node", "params", "set", "Light.Power=on"),
        argument("a carriage return at the end of an option", "carriage return", "whoami", "--json\r"),
        argument(
            "an invisible character in the name of a deployment", "invisible character (U+200B)", "whoami", "--profile",
            "sim\u{200B}"),
        argument(
            "a user name with a space at its end", "ends with a space", "login", "me@example.com ", "--password-file",
            "{}/password"),
        argument(
            "a tilde in quotation marks", "~ was not replaced", "login", "me@example.com", "--password-file", "~/pw.txt"
        ),
        argument("- for a password's file", "use --password-stdin", "login", "me@example.com", "--password-file", "-"),
        argument(
            "a misspelt comparison", "=> is not a comparison", "automation", "add", "x", "--of", "n1", "--when",
            "Sensor.Temperature=>30", "--set", "n1:Light.Power=on"),
        argument(
            "the weather compared with a word", "is not a number", "automation", "add", "x", "--weather",
            "temperature>warm",
            "--set", "n1:Light.Power=on"),
        argument(
            "a value that the weather does not have", "no weather value \"wind\"", "automation", "add", "x",
            "--weather",
            "wind>5", "--set", "n1:Light.Power=on"),
        argument("arguments for curl without --", "go after --", "account", "curl", "/v1/user2"),
        argument("a transport that does not exist", "zigbee", "provision", "--transport", "zigbee"),
        provision(
            "arguments", "two secrets from standard input", "standard input", wifi: false, proof: false, "--ssid",
            "Home", "--passphrase-stdin", "--pop-stdin"),
        provision("arguments", "two proofs of possession", "--pop", "--pop", "planted"),
        provision("arguments", "two network names", "--ssid-hex", "--ssid-hex", "486f6d65"),
        provision("arguments", "half a byte in a network name", "hex", wifi: false, "--ssid-hex", "abc"),
        provision("arguments", "an open network with a password", "open network", "--open"),
        provision("arguments", "a network together with --no-wifi", "--no-wifi", "--no-wifi"),
        provision("arguments", "a security scheme that does not exist", "--sec-ver", "--sec-ver", "3"),
        provision("arguments", "a serial port for Bluetooth", "--port", "--transport", "ble", "--port", "/dev/ttyUSB0"),
        provision("arguments", "tags without a mapping", "--tags works only with a mapping", "--tags", "room:kitchen"),
        provision(
            "arguments", "metadata without a mapping", "--metadata works only with a mapping", "--metadata", "{}"),
        argument("tags without values", "KEY:VALUE", "provision", "--tags", "kitchen"),
        argument("metadata that is not JSON", "--metadata", "provision", "--metadata", "{room"),
        argument("a sign-in without a user", "No user", "login", "--password-file", "{}/password"),
        argument("a sign-in without a password", "No password", "login", "me@example.com"),
        argument(
            "a user name that is not an address or a number", "e-mail address", "login", "me", "--password-file",
            "{}/password"),
        argument(
            "a telephone number without a country code", "country code", "login", "+49abc", "--password-file",
            "{}/password"),
        argument(
            "a sign-in in a browser without a terminal", "needs a terminal, or", "login", "--idp",
            "github"),
        argument(
            "application data from two places", "only one of", "device", "send", "custom-data", "--text", "a", "--hex",
            "ab"),
        argument(
            "application data that is not JSON", "--json-data", "device", "send", "custom-data", "--json-data", "{a"),
        argument("half a byte in application data", "hex digits", "device", "send", "custom-data", "--hex", "abc"),
        argument("options of a host claim without --host", "--host", "device", "claim", "--image", "{}/image"),
        argument(
            "a MAC address that is not valid", "--mac", "device", "claim", "--host", "--mac", "zz", "--image",
            "{}/image"),
        argument("an empty text for --until", "--until", "device", "monitor", "--until", ""),
        argument(
            "a password from two places", "--password-file and --password-stdin", "login", "me@example.com",
            "--password-file",
            "{}/password", "--password-stdin"),
        argument(
            "a provider's option for RainMaker", "--environment needs --provider", "login", "me@example.com",
            "--environment", "stage", "--password-file", "{}/password"),
        argument(
            "--device-code for RainMaker", "--device-code needs --provider", "login", "--device-code"),
        argument(
            "RainMaker's option for a provider", "--guest is for the sign-in to RainMaker", "login", "--provider",
            "spid",
            "--guest"),
        argument(
            "a provider's setting without a value", "name=value", "login", "--provider", "oidc", "--set", "issuer"),
    ]

    private static func argument(_ name: String, _ words: String, _ arguments: String...) -> InjectedFault {
        command("arguments", name, words, arguments)
    }
}
