// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

@Suite("Types of the members of settings files")
struct SettingsMemberTypesTests {
    static let values = ["null", "true", "5", "[]", "{}", "[\"a\"]"]

    @Test(
        "a member of the wrong type is named, and does not count as absent", arguments: SettingsFiles.Level.allCases,
        values)
    func types(level: SettingsFiles.Level, value: String) {
        for name in level.names.map(\.rawValue) {
            let error = #expect(throws: CommandFailure.self) {
                try SettingsFiles.settings(in: Array("{\"\(name)\":\(value)}".utf8), of: level, "/p/.rainkit.json")
            }
            #expect(error?.message.contains("\"\(name)\" must be a string") == true)
            #expect(error?.message.contains("/p/.rainkit.json") == true && error?.status == .config)
        }
    }

    @Test(
        "a file that is not an object, or sets nothing that it may, says why",
        arguments: [
            ("[]", "must be an object, but it is a list"), ("5", "must be an object, but it is a number"),
            ("", "the file is not JSON"),
            ("{", "the file is not JSON"), (#"{"profile":""}"#, "\"profile\" is empty"),
            (#"{"store":"file"}"#, "it may set only profile, account"), (#"{"Profile":"x"}"#, "\"Profile\""),
        ])
    func faults(text: String, says: String) {
        let error = #expect(throws: CommandFailure.self) {
            try SettingsFiles.settings(in: Array(text.utf8), of: .project, "/p/.rainkit.json")
        }
        #expect(error?.message.contains(says) == true, "\(error as Any)")
    }

    @Test(
        "damaged JSON is named with its line and its column",
        arguments: [("{", "(line 1, column 2)"), ("{\n  \"profile\": sim\n}", "(line 2, column 14)")])
    func place(text: String, place: String) {
        let error = #expect(throws: CommandFailure.self) {
            try SettingsFiles.settings(in: Array(text.utf8), of: .project, "/p/.rainkit.json")
        }
        #expect(error?.message.contains(place) == true, "\(error as Any)")
    }

    @Test("texts are taken")
    func texts() throws {
        let found = try SettingsFiles.settings(
            in: Array(#"{"profile":"sim","account":"ada"}"#.utf8), of: .project, "/p/.rainkit.json")
        #expect(found["profile"]?.text == "sim" && found["account"]?.text == "ada")
    }
}
