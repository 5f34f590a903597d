// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The URL of a database, such as `postgresql://user@host:5432/name`. Neither its description nor a dump of it shows the URL.
package struct PostgreSQLAddress: Sendable {
    /// The URL without user, passwords and settings, for messages.
    package let place: String
    /// The file of passwords that the URL names.
    let passwordFile: String?
    private let url: Secret
    private let secrets: [Secret]

    /// Throws `invalidAddress`, without the text of the URL: it may hold a password.
    package init(_ url: String) throws(PostgreSQLError) {
        guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://"), !url.utf8.contains(0) else {
            throw PostgreSQLError(.invalidAddress, "a ledger's address must begin with postgresql://")
        }
        let library = try PostgreSQLLibrary.load()
        let form = PostgreSQLError(
            .invalidAddress,
            "the address is not of the form postgresql://USER@HOST:PORT/DATABASE; special characters in it are written as %XX"
        )
        // In a password with such a character, libpq would find a host, a port or a database, which are shown.
        let parts = url.split(separator: "?", maxSplits: 1)[0].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.dropFirst(3).allSatisfy({ !$0.contains("@") }), parts[2].count(where: { $0 == "@" }) <= 1 else {
            throw form
        }
        // libpq's text about the failure quotes the URL.
        guard let options = library.parseOptions(url, nil) else { throw form }
        defer { library.freeOptions(options) }
        var values: [String: String] = [:]
        var secrets: [Secret] = []
        var next = options.assumingMemoryBound(to: PostgreSQLLibrary.Option.self)
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.value.map({ String(cString: $0) }), !value.isEmpty {
                if next.pointee.display.map({ String(cString: $0) }) == "*" {
                    secrets.append(Secret(value))
                } else {
                    values[String(cString: keyword)] = value
                }
            }
            next += 1
        }
        let host = (values["host"] ?? values["hostaddr"] ?? "").onOneLine
        guard (values["port"] ?? "").utf8.allSatisfy({ "0123456789,".utf8.contains($0) }) else { throw form }
        // Several hosts without ports have a port of commas alone.
        let port = values["port"].flatMap { port in port.allSatisfy { $0 == "," } ? nil : ":" + port } ?? ""
        let name = "/" + (values["dbname"] ?? "").onOneLine
        if host.hasPrefix("/") {
            place = "postgresql://\(name)?host=\(host)"
        } else {
            place = "postgresql://" + host + port + name
        }
        passwordFile = values["passfile"]
        self.url = Secret(url)
        self.secrets = secrets
    }

    /// Returns the text on one line, without the URL's passwords.
    func redacted(_ text: String) -> String {
        let lines = text.split(separator: "\n").map { $0.drop { $0 == "\t" || $0 == " " } }
        return secrets.reduce(lines.joined(separator: " ")) { text, secret in
            text.split(separator: secret.revealString(), omittingEmptySubsequences: false).joined(separator: "…")
        }.onOneLine
    }

    /// Passes the keywords and values that open a connection. Those after the URL replace its own.
    func withParameters<Result>(_ body: (_ keywords: [String], _ values: [String]) -> Result) -> Result {
        body(
            ["fallback_application_name", "dbname", "client_encoding", "tcp_user_timeout"],
            ["rainkit", url.revealString(), "UTF8", "10000"])
    }
}
