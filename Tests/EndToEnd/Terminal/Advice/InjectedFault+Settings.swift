// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// What can be wrong with settings, deployments, and files that describe providers and backends.
extension InjectedFault {
    static let ofSettings: [InjectedFault] = [
        settings("settings that are not JSON", "line 1, column 2", "{"),
        settings("settings that are a list", "config.json", "[]"),
        settings("a setting that does not exist", "colour", #"{"colour":"red"}"#),
        settings("a setting of the wrong type", "a number", #"{"store":7}"#),
        settings("a setting that is not allowed in this file", "may set only", #"{"profile":"nope"}"#),
        command(
            "settings", "an unknown deployment in the machine's settings", "etc/rainkit/config.json names",
            files: ["etc/rainkit/config.json": #"{"profile":"nope"}"#], environment: ["XDG_CONFIG_DIRS": "{}/etc"],
            ["whoami"]),
        command(
            "settings", "a missing certificate file in the settings", "from ca_file in",
            files: ["config/rainkit/config.json": #"{"ca_file":"/nope.pem"}"#],
            ["login", "me@example.com", "--password-file", "{}/password"]),
        command(
            "settings", "an account without a session in the environment", "from RAINKIT_ACCOUNT",
            cloud: true,
            environment: ["RAINKIT_ACCOUNT": "old@example.com"], ["node", "list"]),
        command(
            "settings", "quotation marks in the variable of the deployment", "RAINKIT_PROFILE is in quotation marks",
            environment: ["RAINKIT_PROFILE": "\"sim\""], ["whoami"]),
        command(
            "settings", "a carriage return in the variable of the deployment",
            "RAINKIT_PROFILE ends with a carriage return",
            environment: ["RAINKIT_PROFILE": "sim\r"], ["whoami"]),
        command(
            "settings", "a provider without a session in the environment", "from RAINKIT_PROVIDER",
            environment: ["RAINKIT_PROVIDER": "spid"], ["whoami"]),
        command(
            "settings", "a wrong password in the environment", "from ESP_RAINMAKER_PASSWORD", cloud: true,
            environment: ["ESP_RAINMAKER_PASSWORD": "planted-Old1"], ["login", SimulatedCloud.user]),
        command(
            "settings", "no home folder", "HOME",
            environment: ["HOME": "", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""], ["whoami"]),
        deployment("a base URL without encryption", "https://", "http://rainmaker.example.com"),
        deployment("a base URL without a scheme", "https://", "rainmaker.example.com"),
        deployment("a base URL of another protocol", "https://", "ftp://rainmaker.example.com"),
        deployment("a base URL with a password", "password", "https://me:planted@rainmaker.example.com"),
        deployment("a base URL with a query", "query", "https://rainmaker.example.com/?key=planted"),
        deployment("a base URL with an impossible port", "port", "https://rainmaker.example.com:99999"),
        deployment("a base URL with IPv6 but no brackets", "brackets", "https://2001:db8::5"),
        deployment("a base URL without a host", "host", "https:///v1"),
        command(
            "settings", "an invalid name for a deployment", "not a valid profile name",
            ["profile", "add", "../x", "--base-url", "https://rainmaker.example.com"]),
        command(
            "settings", "a deployment that already exists", "already", cloud: true,
            ["profile", "add", "sim", "--base-url", "https://rainmaker.example.com"]),
        command("settings", "removal of a built-in deployment", "built in", ["profile", "remove", "global"]),
        definition("a provider's file that is not JSON", "not JSON", "{"),
        definition("a provider's file without a version", "schemaVersion", #"{"id":"mine"}"#),
        definition("a provider's file of a newer version", "99", #"{"schemaVersion":99,"id":"mine"}"#),
        definition("a provider's file without an id", "id", #"{"schemaVersion":1}"#),
        definition(
            "a provider's file with a list instead of grants", "grants",
            #"{"schemaVersion":1,"id":"mine","title":"Mine","grants":[]}"#),
        definition(
            "a misspelt grant in a provider's file", "passwrd",
            #"{"schemaVersion":1,"id":"mine","extends":"oidc","grants":{"passwrd":null}}"#),
        command(
            "settings", "a deployment with an impossible base URL in the list", "\"lab\" in",
            files: [
                "config/rainkit/deployments.json":
                    #"{"schemaVersion":1,"deployments":[{"name":"lab","base_url":"ftp://x"}]}"#
            ], ["node", "list"]),
        command(
            "settings", "a folder in the variable with the backend file", "(from RAINKIT_BACKEND)",
            environment: ["RAINKIT_BACKEND": "{}"],
            [
                "provision", "--provider", "spid", "--ssid", "Home", "--passphrase-file", "{}/wifi", "--pop-file",
                "{}/pop", "--transport", "softap",
            ]),
        backend("a missing backend file", "does not exist", nil),
        backend("a backend file that is not JSON", "not JSON", "{"),
        backend("a backend file of a newer version", "99", #"{"schemaVersion":99}"#),
        backend("a backend file without an address", "add", #"{"schemaVersion":1}"#),
        provision("settings", "a backend file without a provider", "--provider", "--backend", "{}/backend.json"),
    ]

    private static func settings(_ name: String, _ words: String, _ text: String) -> InjectedFault {
        command("settings", name, words, files: ["config/rainkit/config.json": text], ["whoami"])
    }

    private static func deployment(_ name: String, _ words: String, _ base: String) -> InjectedFault {
        command("settings", name, words, ["profile", "add", "mine", "--base-url", base])
    }

    private static func definition(_ name: String, _ words: String, _ text: String) -> InjectedFault {
        command(
            "settings", name, words, files: ["config/rainkit/providers/mine.json": text],
            ["login", "--provider", "mine"])
    }

    private static func backend(_ name: String, _ words: String, _ text: String?) -> InjectedFault {
        command(
            "settings", name, words, files: text.map { ["backend.json": $0] } ?? [:],
            [
                "provision", "--provider", "spid", "--backend", "{}/backend.json", "--ssid", "Home",
                "--passphrase-file", "{}/wifi",
                "--pop-file", "{}/pop", "--transport", "softap",
            ])
    }
}
