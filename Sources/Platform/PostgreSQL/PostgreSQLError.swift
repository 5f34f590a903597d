// SPDX-License-Identifier: Apache-2.0

/// Why a PostgreSQL server could not be reached, or did not do what a statement asks for. Texts hold no password.
package struct PostgreSQLError: Error, Sendable, Equatable {
    package enum Code: Sendable, Equatable {
        /// libpq is not installed.
        case libraryMissing
        /// The text is not a URL of PostgreSQL.
        case invalidAddress
        /// There was no connection, and no answer of a server that says why.
        case unreachable
        /// The server did not answer in time. The connection cannot be used any more.
        case timedOut
        /// The connection ended during a statement, or before it. What the statement has done is unknown.
        case lost
        /// A text contains a NUL character.
        case invalidText
        /// The server asks for a password, and none was given.
        case noPassword
        /// The server refused the connection or the statement; ``PostgreSQLError/state`` has the cause.
        case refused
    }

    package var code: Code
    /// The SQLSTATE, five letters or digits, if the server gave one (PostgreSQL's manual, appendix A).
    package var state: String?
    /// The server's or libpq's text, on one line.
    package var message: String
    /// The file of passwords that libpq ignored, because other users may read it.
    package var ignoredFile: String?

    package init(_ code: Code, state: String? = nil, _ message: String) {
        self.code = code
        self.state = state
        self.message = message
    }

    /// Reads libpq's text about a connection that was refused. With verbose errors, libpq puts the SQLSTATE before the server's text; there
    /// is no other way to learn it. The server's text may be in any language.
    init(connecting text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() where part.hasPrefix("  ") && part.utf8.count == 7 {
                let state = part.dropFirst(2)
                guard index + 1 < parts.count, state.utf8.allSatisfy(Self.isStateByte) else { continue }
                let message = parts[(index + 1)...].joined(separator: ":").drop { $0 == " " }
                self.init(.refused, state: String(state), String(message))
                return
            }
        }
        // The lines after the first are advice for people who run a server.
        let first = text.split(separator: "\n").first.map(String.init) ?? text
        // Texts of libpq (fe-connect.c, fe-misc.c) about a server that speaks another protocol, or ends the connection before an answer.
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        let cause: String? =
            if says("invalid response to SSL negotiation", "expected authentication request from server") {
                "the server there does not speak PostgreSQL's protocol"
            } else if says("server closed the connection unexpectedly") {
                "the server there closed the connection without an answer, so it may not be PostgreSQL"
            } else {
                nil
            }
        // PQnoPasswordSupplied in libpq-fe.h.
        let code: Code = says("fe_sendauth: no password supplied") ? .noPassword : .unreachable
        self.init(code, cause.map { "\($0) (\(first))" } ?? first)
    }

    private static func isStateByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
    }
}
