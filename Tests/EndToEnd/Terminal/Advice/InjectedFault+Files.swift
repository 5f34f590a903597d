// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What can be wrong with files that options name.
extension InjectedFault {
    static let ofFiles: [InjectedFault] = [
        provision(
            "file", "an empty proof of possession", "empty", files: ["none": ""], proof: false, "--pop-file", "{}/none"),
        provision(
            "file", "an empty line instead of a proof of possession", "empty", files: ["none": "\n"], proof: false,
            "--pop-file",
            "{}/none"),
        provision(
            "file", "a missing file with the proof of possession", "No such file", proof: false, "--pop-file", "{}/none"
        ),
        provision("file", "a folder instead of a proof of possession", "folder", proof: false, "--pop-file", "{}"),
        provision(
            "file", "a proof of possession that is too long", "4096 bytes|long",
            files: ["long": String(repeating: "x", count: 5000)],
            proof: false, "--pop-file", "{}/long"),
        provision(
            "file", "a Wi-Fi password that is too long", "63", files: ["long": String(repeating: "x", count: 70)],
            wifi: false,
            "--ssid", "Home", "--passphrase-file", "{}/long"),
        provision("file", "a missing file with application data", "No such file", "--custom-data", "{}/none"),
        command(
            "file", "an empty password", "empty", files: ["none": ""],
            ["login", "me@example.com", "--password-file", "{}/none"]),
        command(
            "file", "a folder instead of a password", "folder",
            ["login", "me@example.com", "--password-file", "{}"]),
        InjectedFault("file", "a pipe to which no program writes", "No program wrote", known: .silence(1)) {
            lab in
            mkfifo(lab.folder.file("pipe"), 0o600)
            return try await lab.rainctl(
                "login", "me@example.com", "--password-file", lab.folder.file("pipe"), "--timeout", "1")
        },
        authorities("a certificate file without a certificate", "no certificate", "{}/wifi"),
        authorities("an empty certificate file", "empty", "{}/none", files: ["none": ""]),
        authorities("a folder instead of a certificate file", "folder", "{}"),
        command(
            "file", "a log in a missing folder", "none does not exist", ["whoami", "--log-file", "{}/none/log"]),
        command("file", "a folder instead of a log", "Is a directory", ["whoami", "--log-file", "{}"]),
        command(
            "file", "a device log in a missing folder", "none does not exist",
            ["device", "monitor", "--port", "/dev/null", "--device-log", "{}/none/log"]),
        command(
            "file", "a missing file with a client secret", "No such file",
            [
                "login", "--provider", "spid", "--mode", "client-credentials", "--client-id", "app-1",
                "--client-secret-file",
                "{}/none",
            ]),
    ]

    private static func authorities(
        _ name: String, _ words: String, _ path: String, files: [String: String] = [:]
    ) -> InjectedFault {
        command(
            "file", name, words, files: files,
            ["login", "me@example.com", "--password-file", "{}/password", "--ca-file", path])
    }
}
