// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What can be wrong with the folders and files in which sessions and accounts are kept.
extension InjectedFault {
    static let ofStores: [InjectedFault] = [
        session("a pipe instead of a session file", "FIFO", "whoami") { mkfifo($0, 0o600) },
        session("a folder instead of a session file", "folder", "whoami") { mkdir($0, 0o700) },
        session(
            "a folder in the way of a new session", "folder", "login", SimulatedCloud.user, "--password-file",
            "{}/password"
        ) {
            mkdir($0, 0o700)
        },
        session("a link instead of a session file", "symbolic link", "whoami") { symlink("/dev/null", $0) },
        stored("an empty session file", "empty", ""),
        stored("a session file that is cut off", "not JSON", #"{"schemaVersion":1,"provider":"#),
        stored("a session file of a newer version", "newer version", #"{"schemaVersion":99}"#),
        stored("a session file without a version", "incomplete|cannot be used", "{}"),
        stored("a session file without tokens", "incomplete|cannot be used", #"{"schemaVersion":1}"#),
        stored("a session file that is too large", "too large", "{" + String(repeating: " ", count: 2 << 20) + "}"),
        InjectedFault("store", "a session file that others may read", "not private", cloud: true) { lab in
            chmod(lab.folder.file(Maker.sessionFile), 0o644)
            return try await lab.rainctl("whoami")
        },
        InjectedFault("store", "a file instead of the folder", "is a file, but must be a folder") { lab in
            try lab.folder.write("", to: "state")
            return try await lab.rainctl("login", "me@example.com", "--password-file", lab.folder.file("password"))
        },
        InjectedFault("store", "a folder that cannot be created", "/proc/none does not exist, and cannot be created") {
            lab in
            try await lab.timed(
                ["login", "me@example.com", "--password-file", lab.folder.file("password")],
                environment: ["XDG_STATE_HOME": "/proc/none"])
        },
        InjectedFault("store", "merge conflict marks in the list of deployments", "merge conflict", cloud: true) {
            lab in
            let path = "config/rainkit/deployments.json"
            lab.folder.writePrivately(Array(("<<<<<<< HEAD\n" + (try lab.folder.read(path))).utf8), to: path)
            return try await lab.rainctl("profile", "list")
        },
        document("a newer list of deployments", "newer version", "config/rainkit/deployments.json", "profile", "list"),
        document("a newer list of accounts", "newer version", "state/rainkit/accounts.json", "account", "list"),
        held(
            "a sign-in while another process holds the session", "another process", "login", SimulatedCloud.user,
            "--password-file", "{}/password"),
        held("a renewal while another process holds the session", "another process", "account", "refresh"),
        command(
            "store", "no keyring", "Secret Service",
            ["login", "me@example.com", "--password-file", "{}/password", "--store", "secret-service"]),
        command(
            "store", "a damaged systemd credential", "not JSON", files: ["credentials/rainkit-global": "{"],
            environment: ["CREDENTIALS_DIRECTORY": "{}/credentials"], ["whoami"]),
        command(
            "store", "a systemd credential of another deployment", "no credential named rainkit-global",
            files: ["credentials/rainkit-lab": "{}"], environment: ["CREDENTIALS_DIRECTORY": "{}/credentials"],
            ["whoami"]),
        command(
            "store", "a HOME that does not exist", "folder of HOME, /proc/none, does not exist",
            environment: ["HOME": "/proc/none", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""],
            ["login", "me@example.com", "--password-file", "{}/password"]),
        command(
            "store", "a socket in a missing folder", "/proc/none does not exist",
            ["serve", "--socket", "/proc/none/rainkit/socket"]),
        command(
            "store", "a ledger in a missing folder of the root folder", "/rainkit-none does not exist",
            cloud: true, files: ["boards.csv": "name,transport,pop\nPROV_1,ble,p\n"],
            [
                "batch", "run", "{}/boards.csv", "--ssid", "Home", "--passphrase-file", "{}/wifi", "--ledger",
                "/rainkit-none/ledger.sqlite",
            ]),
        InjectedFault("store", "an import without a source", "does not exist") {
            try await $0.rainctl("account", "import", "--from", $0.folder.file("none"))
        },
        InjectedFault("store", "an import from a file", "is a file") {
            try await $0.rainctl("account", "import", "--from", $0.folder.file("wifi"))
        },
        InjectedFault("store", "an export to a device", "use another path", cloud: true) {
            try await $0.rainctl("account", "export", "--credential", "/dev/full")
        },
        command(
            "store", "a session bus address without a transport", "not an address of D-Bus",
            environment: ["DBUS_SESSION_BUS_ADDRESS": "/run/user/0/bus"],
            ["login", "me@example.com", "--password-file", "{}/password", "--store", "secret-service"]),
        InjectedFault(
            "store", "an export to a file instead of a folder", "is a file, but must be a folder", cloud: true
        ) {
            try await $0.rainctl("account", "export", "--to", $0.folder.file("wifi"))
        },
        command(
            "store", "a browser that does not exist", "/nonexistent/browser",
            environment: ["BROWSER": "/nonexistent/browser"],
            ["login", "--idp", "github", "--browser"]),
    ]

    /// - Parameter make: what is made in the session's place.
    private static func session(
        _ name: String, _ words: String, _ arguments: String..., make: @escaping @Sendable (String) -> Int32
    ) -> InjectedFault {
        InjectedFault("store", name, words, cloud: true) { lab in
            let path = lab.folder.file(Maker.sessionFile)
            unlink(path)
            guard make(path) == 0 else { throw ProcessError("nothing can be made at \(path)") }
            return try await lab.timed(arguments.map { $0.replacing("{}", with: lab.folder.path) })
        }
    }

    private static func stored(_ name: String, _ words: String, _ text: String) -> InjectedFault {
        InjectedFault("store", name, words, cloud: true) { lab in
            lab.folder.writePrivately(Array(text.utf8), to: Maker.sessionFile)
            return try await lab.rainctl("whoami")
        }
    }

    private static func document(
        _ name: String, _ words: String, _ path: String, _ arguments: String...
    ) -> InjectedFault {
        InjectedFault("store", name, words, cloud: true) { lab in
            let text = try lab.folder.read(path)
            lab.folder.writePrivately(
                Array(text.replacing(/"schemaVersion":\s*1/, with: "\"schemaVersion\":99").utf8), to: path)
            return try await lab.timed(arguments)
        }
    }

    private static func held(_ name: String, _ words: String, _ arguments: String...) -> InjectedFault {
        InjectedFault("store", name, words, known: .silence(1), cloud: true) { lab in
            let lock = open(lab.folder.file(Maker.sessionFile).replacing(".json", with: ".lock"), O_RDWR | O_CLOEXEC)
            defer { close(lock) }
            guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw ProcessError("the lock is not free") }
            return try await lab.timed(
                arguments.map { $0.replacing("{}", with: lab.folder.path) } + ["--timeout", "1"])
        }
    }
}
