// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The file from which libpq reads passwords (PostgreSQL's manual, 34.16).
struct PasswordFile {
    let path: String

    /// - Parameter given: the file that the database's URL names (`passfile`).
    init?(given: String?) {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let path = given ?? variable("PGPASSFILE") ?? variable("HOME").map({ "\($0)/.pgpass" }) else {
            return nil
        }
        self.init(path: path)
    }

    init(path: String) { self.path = path }

    /// Whether libpq ignores the file, because other users may access it (`passwordFromFile` in fe-connect.c).
    var isIgnored: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_mode & 0o077 != 0
    }
}
