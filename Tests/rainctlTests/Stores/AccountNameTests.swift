// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainAccount
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import RainKit

/// Names that servers and files give to accounts come back in shells.
@Suite("Names of accounts")
struct AccountNameTests {
    static let hostile = [
        "x$(id)@e.example", "x`id`@e.example", "${IFS}@e.example", "$((1))", "x;id", "x|id", "x&id", "x>f", "x<f",
        "x(id)", "{a,b}@e.example", "[a]@e.example", "*@e.example", "?@e.example", "~root", "#x", "!x", "^a^b", "a\"b",
        "o'brien@e.example", #"a\b"#, "a\nb", "a\tb", "a\rb", "\u{1B}[31mx", "a\u{7F}", "a\u{9B}31m", "a\u{202E}b",
        "a\u{2066}b", "a\u{200F}b", "a\u{2028}b", "-x", "--help", "=ls",
    ]
    static let usual = [
        "ada@example.com", "ada+boards@example.com", "+4915112345678", "ada_l.o-v", "user/kitchen=1@example.com",
        "Ada Lovelace",
        "Жанна@example.com", "urn:oclc:91475",
    ]

    private func signIn(
        _ userName: String, id: String = "7c5b", in folder: String, named name: String? = nil, as user: String? = nil
    ) async throws -> String? {
        let accounts = AccountDirectory(folder: folder, environment: [:])
        let store = try await accounts.newAccount(at: "sim", named: name, user: user, in: .kind(.file))
        let session = SavedSession(
            provider: "rainmaker", userID: UserID(id), userName: userName,
            tokens: Tokens(
                access: Secret("a"), refresh: Secret("r"), identity: nil, received: UnixTime(seconds: 1), expires: nil))
        try await store.exclusively(try CredentialKey("sim"), within: .seconds(60)) {
            access async throws(AccountError) in
            try await access.save(session)
        }
        return try accounts.known.load().current(at: "sim")?.name
    }

    @Test("a name from a server is not kept if a shell or a terminal obeys it", arguments: hostile)
    func refused(name: String) async throws {
        try await withTemporaryFolder { folder in
            let error = await #expect(throws: AccountError.self) { try await signIn(name, in: folder.path) }
            #expect(error?.code == .untrustedAnswer && error?.remedies == [.accountName])
            #expect(error.map { ShownText.plain($0.message) == $0.message } == true)
            let known = try AccountDirectory(folder: folder.path, environment: [:]).known.load()
            #expect(known.entries.isEmpty)
            // The user can still name the account.
            #expect(try await signIn(name, in: folder.path, named: "mine") == "mine")
        }
    }

    @Test("usual names are kept as they are", arguments: usual)
    func kept(name: String) async throws {
        try await withTemporaryFolder { folder in
            let kept = try await signIn(name, in: folder.path)
            #expect(kept == name)
        }
    }

    @Test("a name that the user gave is the user's own choice", arguments: ["o'brien@e.example", "a&b@e.example"])
    func given(name: String) async throws {
        try await withTemporaryFolder { folder in
            let kept = try await signIn(name, in: folder.path, as: name)
            #expect(kept == name)
        }
    }

    @Test(
        "where there is no name, one is made of the user's id",
        arguments: [
            ("auth0|5f7c8e", "auth0-5f7c8e"), ("x$(id)", "x--id-"), ("7c5b-11", "7c5b-11"), ("-x", "user-x"),
            ("a b\nc", "a-b-c"), ("=ls", "user=ls"),
        ])
    func made(id: String, name: String) async throws {
        try await withTemporaryFolder { folder in
            for userName in [id, ""] {
                let kept = try await signIn(userName, id: id, in: folder.path)
                #expect(kept == name)
            }
            #expect(AccountName.isSafe(name))
        }
    }

    @Test("the official client's profile is no path", arguments: ["a/b", "a/\u{301}b", ".."])
    func profile(name: String) async throws {
        try await withTemporaryFolder { folder in
            let error = #expect(throws: AccountError.self) {
                try OfficialClientFolder(path: folder.path).load(profile: name)
            }
            #expect(error?.message.contains("is not a valid profile name") == true, "\(error as Any)")
        }
    }

    @Test("a session of the official client's with such a name is not taken over", arguments: hostile)
    func imported(name: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.makeFolder("profiles")
            try folder.write("global\n", to: "profiles/current_profile")
            func token(_ claims: JSONValue) -> String {
                let text = Data(claims.serialized()).base64EncodedString()
                return "a.\(text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")).c"
            }
            let file: JSONValue = [
                "accesstoken": .string(token(["exp": 1])), "refreshtoken": "r",
                "idtoken": .string(token(["custom:user_id": "7c5b", "email": .string(name)])),
            ]
            try folder.write(String(decoding: file.serialized(), as: UTF8.self), to: "profiles/global_config.json")
            let error = #expect(throws: AccountError.self) { try OfficialClientFolder(path: folder.path).load() }
            #expect(error?.code == .storeUnreadable)
        }
    }
}
