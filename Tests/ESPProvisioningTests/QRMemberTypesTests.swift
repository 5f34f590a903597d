// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Testing

/// A member that counts as absent takes the label's protection away: a board that claims Security 0 would get the Wi-Fi password in clear.
@Suite("Types of a QR code's members")
struct QRMemberTypesTests {
    static let members: [String] = ["name", "pop", "transport", "username", "password", "security", "network"]
    static let values = ["null", "true", "12345678", "1.5", #""text""#, #"["a"]"#, #"{"a":1}"#]

    private func fault(_ text: String) -> BoardError? {
        do throws(BoardError) {
            _ = try QRPayload(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test("a member of the wrong type is refused by its name", arguments: members, values)
    func types(member: String, value: String) {
        let isRight = ["security", "transport"].contains(member) ? false : value.hasPrefix("\"")
        let name = member == "name" ? "" : #""name":"PROV_test","#
        for text in [
            #"{\#(name)"\#(member)":\#(value)}"#, #"https://x/q?data={\#(name)"\#(member)":\#(value)}"#,
        ] {
            let error = fault(text)
            #expect((error == nil) == isRight, "\(text)")
            guard let error else { continue }
            #expect(error.code == .malformed)
            // A number as the scheme has the right type, and the wrong value.
            let says = member == "security" && value == "12345678" ? "is 12345678" : "\"\(member)\""
            #expect(error.message.contains(says), "\(error.message)")
        }
    }

    @Test("the proof is not quoted in the message")
    func quotesNothing() throws {
        let error = try #require(
            fault(#"{"ver":"v1","name":"PROV_test","pop":12345678,"transport":"softap"}"#))
        #expect(error.message == "The board's QR code cannot be used: \"pop\" must be a string, but it is a number.")
        #expect(!"\(error)".contains("12345678"))
    }

    @Test(
        "a member that readers may understand differently is refused",
        arguments: [
            #"{"name":"X","POP":"p"}"#, #"{"name":"X","Security":2}"#,
            #"{"name":"X","pop":"p","Pop":"q"}"#,
        ])
    func ambiguous(text: String) {
        #expect(fault(text)?.message.contains("has capital letters") == true)
    }

    @Test(
        "an unknown version or transport is refused and named",
        arguments: [
            (#"{"ver":"v9","name":"X","pop":"planted"}"#, "\"v9\""), (#"{"ver":2,"name":"X"}"#, "\"ver\" is 2"),
            (#"{"ver":null,"name":"X"}"#, "\"ver\" is null"), (#"{"ver":"","name":"X"}"#, "\"ver\" is \"\""),
            (#"{"name":"X","pop":"planted","transport":"zigbee"}"#, "\"zigbee\""),
            (#"https://x/q?data={"name":"X","transport":"usb"}"#, "\"usb\""),
        ])
    func unknownValues(text: String, words: String) {
        let error = fault(text)
        #expect(error?.code == .malformed)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("planted") == false)
    }

    @Test("a transport may have capital letters")
    func capitals() throws {
        #expect(try QRPayload(Array(#"{"name":"X","transport":"BLE"}"#.utf8)).transport == .ble)
    }

    @Test("members that no reader knows may have any type")
    func unknown() throws {
        #expect(try QRPayload(Array(#"{"ver":1,"name":"X","color":5,"more":null}"#.utf8)).name == "X")
        #expect(try QRPayload(Array(#"{"name":"X","pop":"p","security":2.0}"#.utf8)).securityVersion == 2)
    }
}
