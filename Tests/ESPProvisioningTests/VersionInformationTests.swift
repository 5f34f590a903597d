// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ESPProvisioning

@Suite("Version information")
struct VersionInformationTests {
    /// What each generation of firmware answers on `proto-ver` (ESP-IDF 4.0 to 6, network_provisioning, RainMaker).
    static let answers: [(text: String, security: SecurityRequirement, association: AssociationMethod)] = [
        ("V0.1", .init(version: 1, needsProofOfPossession: true), .userMapping),
        (
            #"{"prov":{"ver":"v1.1","cap":["wifi_scan"]}}"#, .init(version: 1, needsProofOfPossession: true),
            .userMapping
        ),
        (
            #"{"prov":{"ver":"v1.1","cap":["no_pop","wifi_scan"]}}"#, .init(version: 1, needsProofOfPossession: false),
            .userMapping
        ),
        (
            #"{"prov":{"ver":"v1.1","cap":["no_sec","wifi_scan"]}}"#, .init(version: 0, needsProofOfPossession: false),
            .userMapping
        ),
        (
            #"{"prov":{"ver":"v1.1","sec_ver":2,"cap":["wifi_scan"]}}"#,
            .init(version: 2, patch: 0, needsProofOfPossession: true), .userMapping
        ),
        (
            "{\n\t\"rmaker_extra\":\t{\n\t\t\"ver\":\t\"1.0\",\n\t\t\"cap\":\t[\"ch_resp\"]\n\t},\n\t\"prov\":\t{\n\t\t"
                + "\"ver\":\t\"netprov-v1.2\",\n\t\t\"sec_ver\":\t2,\n\t\t\"sec_patch_ver\":\t1,\n\t\t\"cap\":\t"
                + "[\"wifi_prov\", \"wifi_scan\"]\n\t}\n}",
            .init(version: 2, patch: 1, needsProofOfPossession: true), .challengeResponse
        ),
        // sec_ver decides even where a capability says otherwise.
        (
            #"{"prov":{"ver":"netprov-v1.2","sec_ver":0,"sec_patch_ver":0,"cap":["no_sec","wifi_prov"]}}"#,
            .init(version: 0, needsProofOfPossession: false), .userMapping
        ),
        (
            #"{"prov":{"ver":"netprov-v1.2","sec_ver":1,"sec_patch_ver":0,"cap":["no_pop"]}}"#,
            .init(version: 1, needsProofOfPossession: false), .userMapping
        ),
    ]

    @Test("each generation of firmware is understood", arguments: answers.indices)
    func generations(index: Int) throws {
        let (text, security, association) = Self.answers[index]
        let identity = try VersionInformation(Array(text.utf8)).identity
        #expect(identity.security == security)
        #expect(identity.association == association)
    }

    @Test("a board that waits for its claim is recognised", arguments: ["claim", "camera_claim"])
    func claim(capability: String) throws {
        let text = #"{"rmaker":{"ver":"1.0","cap":["\#(capability)"]},"prov":{"ver":"v1.1","sec_ver":1,"cap":[]}}"#
        #expect(try VersionInformation(Array(text.utf8)).identity.needsClaim == true)
    }

    @Test("capabilities keep their section and order")
    func capabilities() throws {
        let text =
            #"{"rmaker_extra":{"cap":["ch_resp","local_ctrl"]},"prov":{"ver":"x","cap":["wifi_prov","wifi_scan"]}}"#
        let identity = try VersionInformation(Array(text.utf8)).identity
        #expect(
            identity.capabilities
                == ["rmaker_extra.ch_resp", "rmaker_extra.local_ctrl", "prov.wifi_prov", "prov.wifi_scan"])
        #expect(identity.canScan)
    }

    @Test(
        "anything other than version information is an error that explains it",
        arguments: ["", "{", "<html>", "[]", "{}", #"{"prov":"#, "Vnot-a-version-but-far-too-long", "\u{0}"])
    func nonsense(text: String) {
        #expect(throws: BoardError.self) { try VersionInformation(Array(text.utf8)) }
    }

    @Test(
        "a member of the wrong type is an error that names it, and never counts as absent",
        arguments: [
            (#"{"rmaker":5,"prov":{"cap":[]}}"#, "\"rmaker\" must be an object, but it is a number"),
            (
                #"{"rmaker_extra":{"cap":"ch_resp"},"prov":{}}"#,
                "\"rmaker_extra.cap\" must be a list, but it is a string"
            ),
            (#"{"prov":{"sec_ver":"2"}}"#, "\"prov.sec_ver\" must be a whole number, but it is a string"),
            (#"{"prov":{"sec_ver":1.5}}"#, "\"prov.sec_ver\" must be a whole number, but it is a number"),
            (#"{"prov":{"sec_ver":null}}"#, "\"prov.sec_ver\" must be a whole number, but it is null"),
            (#"{"prov":{"sec_ver":true}}"#, "\"prov.sec_ver\" must be a whole number, but it is true or false"),
            (#"{"prov":{"sec_ver":2,"sec_patch_ver":"1"}}"#, "\"prov.sec_patch_ver\""),
            (#"{"prov":{"sec_ver":1,"cap":"no_pop"}}"#, "\"prov.cap\" must be a list, but it is a string"),
            (#"{"prov":{"sec_ver":1,"cap":{"no_pop":true}}}"#, "\"prov.cap\" must be a list, but it is an object"),
            (#"{"prov":{"cap":["wifi_scan",7]}}"#, "\"prov.cap[1]\" must be a string, but it is a number"),
            (#"{"prov":{"cap":[["no_sec"]]}}"#, "\"prov.cap[0]\" must be a string, but it is a list"),
            (#"{"prov":{"ver":1}}"#, "\"prov.ver\" must be a string, but it is a number"),
            (#"{"prov":[]}"#, "\"prov\" must be an object, but it is a list"),
            (#"{"prov":null}"#, "\"prov\" must be an object, but it is null"),
            (#"{"on_network":{"sec_ver":"0"}}"#, "\"on_network.sec_ver\""),
            (#"{"local_ctrl":{"cap":"no_sec"}}"#, "\"local_ctrl.cap\""),
        ])
    func wrongTypes(text: String, says: String) {
        let error = #expect(throws: BoardError.self) { try VersionInformation(Array(text.utf8)) }
        #expect(error?.code == .malformed && error?.message.contains(says) == true, "\(error as Any)")
    }

    @Test("sections of an application's own may have any form")
    func otherSections() throws {
        let text = #"{"app":5,"more":{"cap":["x",1]},"prov":{"sec_ver":1,"cap":["no_pop"]}}"#
        let identity = try VersionInformation(Array(text.utf8)).identity
        #expect(identity.security == .init(version: 1, needsProofOfPossession: false))
        #expect(identity.capabilities == ["more.x", "prov.no_pop"])
    }
}
