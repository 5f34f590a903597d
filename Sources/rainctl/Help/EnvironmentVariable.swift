// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A variable of the environment that rainctl reads, or several that belong together. `rainctl help environment`, the manual and
/// docs/exit-codes.md have this list.
struct EnvironmentVariable: Sendable {
    let names: [String]
    /// The value's use. Options are in backticks.
    let meaning: String

    private init(_ names: String..., meaning: String) {
        self.names = names
        self.meaning = meaning
    }

    /// The meaning as a sentence without backticks.
    var text: String { meaning.replacing("`", with: "").asSentence }

    static let secrets = SecretVariable.allCases.map(\.rawValue)

    static let all: [EnvironmentVariable] = [
        EnvironmentVariable(
            "ESP_RAINMAKER_PASSWORD",
            meaning:
                "the account's password (`--password-file`, `--password-stdin`); the official client reads this variable too"
        ),
        EnvironmentVariable("RAINKIT_POP", meaning: "the board's proof of possession (`--pop-file`, `--pop-stdin`)"),
        EnvironmentVariable(
            "RAINKIT_PASSPHRASE", meaning: "the Wi-Fi password (`--passphrase-file`, `--passphrase-stdin`)"),
        EnvironmentVariable(
            "RAINKIT_CLIENT_SECRET",
            meaning:
                "the secret of this client at an identity provider (`--client-secret-file`); a provider's definition may name "
                + "another variable"),
        EnvironmentVariable("RAINKIT_PROFILE", meaning: "the deployment (`--profile`)"),
        EnvironmentVariable("RAINKIT_ACCOUNT", meaning: "the account (`--account`)"),
        EnvironmentVariable("RAINKIT_PROVIDER", meaning: "the identity provider (`--provider`)"),
        EnvironmentVariable(
            "RAINKIT_BACKEND",
            meaning:
                "the file that describes your own cloud (`--backend`); by default `~/.config/rainkit/backends/PROVIDER.json`"
        ),
        EnvironmentVariable("RAINKIT_LEDGER", meaning: "where the record of batches is (`--ledger`)"),
        EnvironmentVariable("RAINKIT_STORE", meaning: "where sessions are kept (`--store`)"),
        EnvironmentVariable(
            "RAINKIT_CA_FILE",
            meaning:
                "the certificates to trust (`--ca-file`); if it is not set, `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR` are used"
        ),
        EnvironmentVariable(
            "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
            meaning:
                "where settings, sessions, desktop entries and sockets are; a relative path is ignored, with a warning on standard "
                + "error"),
        EnvironmentVariable("XDG_CONFIG_DIRS", meaning: "where the machine's settings are"),
        EnvironmentVariable(
            "HOME", meaning: "the folder of `.config` and `.local`, if the variables above are not set"),
        EnvironmentVariable("PATH", meaning: "where programs are found; only absolute folders count"),
        EnvironmentVariable(
            "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS",
            meaning:
                "the addresses of the system bus (BlueZ, NetworkManager, Avahi) and of the session bus (Secret Service)"
        ),
        EnvironmentVariable(
            "https_proxy", "all_proxy", "no_proxy", meaning: "libcurl's proxy settings, for requests to the cloud"),
        EnvironmentVariable(
            "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION",
            meaning:
                "whether a browser can be opened here; over SSH, `provision` asks before this machine leaves its Wi-Fi"),
        EnvironmentVariable("BROWSER", meaning: "the browser to open, or a list of browsers"),
        EnvironmentVariable("CREDENTIALS_DIRECTORY", meaning: "systemd's credentials"),
        EnvironmentVariable("RM_USER_CONFIG_DIR", meaning: "the official client's folder, for `account import`"),
        EnvironmentVariable(
            "RAINKIT_SYSTEM_ROOT",
            meaning:
                "the folder in which a container sees its host's `/dev`, `/sys`, `/proc` and `/run`, for serial ports"),
        EnvironmentVariable("NO_COLOR", "CLICOLOR_FORCE", "TERM", meaning: "whether output has colours"),
        EnvironmentVariable("COLUMNS", meaning: "the width of help texts; by default the terminal's width"),
    ]
}
