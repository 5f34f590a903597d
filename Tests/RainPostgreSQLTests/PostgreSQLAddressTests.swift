// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import RainPostgreSQL

/// libpq is opened at run time; `scripts/setup people` installs it. Connections are tested with a server in Tests/EndToEnd/Ledger.
@Suite("An address of PostgreSQL", .enabled(if: PostgreSQLLibrary.shared != nil, "libpq is not installed"))
struct PostgreSQLAddressTests {
    static let password = "correct horse&battery"

    @Test(
        "is shown without user and password",
        arguments: [
            ("postgresql://db.example", "postgresql://db.example/"),
            (
                "postgres://ada:correct%20horse%26battery@db.example:5433/factory",
                "postgresql://db.example:5433/factory"
            ),
            ("postgresql://ada@db.example/f?password=correct%20horse%26battery", "postgresql://db.example/f"),
            ("postgresql:///factory?host=/run/postgresql", "postgresql:///factory?host=/run/postgresql"),
            ("postgresql://a.example,b.example/f", "postgresql://a.example,b.example/f"),
        ])
    func place(url: String, place: String) throws {
        let address = try PostgreSQLAddress(url)
        #expect(address.place == place)
        var dumped = ""
        dump(address, to: &dumped)
        for text in ["\(address)", String(reflecting: address), dumped] {
            #expect(!text.contains("correct") && !text.contains("horse"))
        }
    }

    @Test(
        "with another form is refused without being quoted",
        arguments: [
            "", "host=x password=horse", "mysql://a:horse@b/c", "postgresql://ada:horse@[db/x",
            "postgresql://ada:ho@rse@db/x", "postgresql://ada:ho/rse@db/x", "postgresql://ada:5/rse@db/x",
            "postgresql://db/x?port=horse",
            "postgresql://ada:horse@db:port/x?horse=1", "postgresql://ada:horse%ZZ@db/x", "postgresql://a:horse\0@b/c",
        ])
    func refusal(url: String) {
        let error = #expect(throws: PostgreSQLError.self) { try PostgreSQLAddress(url) }
        #expect(error?.code == .invalidAddress)
        #expect(error?.message.contains("rse") == false)
    }

    @Test("texts of the server lose the password")
    func redaction() throws {
        let address = try PostgreSQLAddress("postgresql://ada:correct%20horse%26battery@db/x")
        #expect(address.redacted("for \(Self.password) and\n\t\(Self.password)!") == "for … and …!")
        #expect(try PostgreSQLAddress("postgresql://ada@db/x").redacted("a\n b\u{1B}[1m").hasPrefix("a b"))
    }

    @Test("the SQLSTATE of a refused connection is found in any language, also in the second of two tries")
    func connecting() {
        for (text, state, message) in [
            (
                "connection to server at \"db\" (10.0.0.1), port 5432 failed: FATAL:  28P01: password authentication failed for user \"ada\"\nLOCATION:  auth_failed, auth.c:329\n",
                "28P01", "password authentication failed for user \"ada\""
            ),
            (
                "… fehlgeschlagen: FATAL:  3D000: Datenbank »x« existiert nicht: ja", "3D000",
                "Datenbank »x« existiert nicht: ja"
            ),
            (
                "SSL error: x\nconnection to server failed: FATAL:  57P03: the database system is starting up", "57P03",
                "the database system is starting up"
            ),
            (
                "connection failed: Connection refused\n\tIs the server running?", nil,
                "connection failed: Connection refused"
            ),
            (
                "failed: received invalid response to SSL negotiation: H", nil,
                "the server there does not speak PostgreSQL's protocol (failed: received invalid response to SSL negotiation: H)"
            ),
            (
                "failed: server closed the connection unexpectedly\n\tThis probably means", nil,
                "the server there closed the connection without an answer, so it may not be PostgreSQL "
                    + "(failed: server closed the connection unexpectedly)"
            ),
            ("odd:  abc12: lower case", nil, "odd:  abc12: lower case"), ("end:  28P01", nil, "end:  28P01"),
        ] as [(String, String?, String)] {
            let error = PostgreSQLError(connecting: text)
            #expect(error.state == state)
            #expect(error.message == message)
            #expect(error.code == (state == nil ? .unreachable : .refused))
        }
    }

    @Test("a password that was not given is known, and so is a file of passwords that libpq ignores")
    func noPassword() async throws {
        let text = "connection to server at \"db\" (10.0.0.1), port 5432 failed: fe_sendauth: no password supplied\n"
        #expect(PostgreSQLError(connecting: text).code == .noPassword)
        #expect(try PostgreSQLAddress("postgresql://ada@db/x?passfile=/p").passwordFile == "/p")
        try await withTemporaryFolder { folder in
            let file = PasswordFile(path: folder.file("pgpass"))
            #expect(!file.isIgnored)
            folder.writePrivately(Array("*:*:*:*:x".utf8), to: "pgpass")
            #expect(!file.isIgnored)
            chmod(file.path, 0o640)
            #expect(file.isIgnored)
        }
    }

    @Test("values are encoded as the server reads them")
    func values() {
        #expect(PostgreSQLValue.null.encoded == nil)
        #expect(PostgreSQLValue.integer(-7).encoded == "-7")
        #expect(PostgreSQLValue.text("{'\"\\").encoded == "{'\"\\")
        #expect(PostgreSQLValue.integers([1, nil, -2]).encoded == "{1,NULL,-2}")
        #expect(PostgreSQLValue.texts([]).encoded == "{}")
        #expect(PostgreSQLValue.texts(["", nil, "NULL", "a\"b\\c,{ü}"]).encoded == #"{"",NULL,"NULL","a\"b\\c,{ü}"}"#)
    }
}
