// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKit
import RainMaker
import Testing

@testable import rainctl

@Suite("rainctl device claim --host: commands that are printed")
struct HostClaimTextTests {
    @Test("the command that adds a profile once more has all of its settings")
    func addition() throws {
        let web = try WebSignIn(
            authorizePath: "/a", tokenPath: "/t", scope: ["openid", "email"], relay: "https://relay.example/in",
            relayTakesExtendedState: true, loopbackPath: "/back", schemeRedirect: "com.example.app:/callback")
        let deployment = try Deployment(
            name: "lab", base: "https://cloud.example", authorization: "https://auth.example", clientID: "it's me",
            certificateAuthorities: "/etc/my ca.pem", webSignIn: web)
        let words = [
            "rainctl profile add lab-claims --base-url https://cloud.example --auth-url https://auth.example",
            #"--client-id 'it'\''s me' --ca-file '/etc/my ca.pem' --authorize-path /a --token-path /t"#,
            "--scope 'openid email' --relay-url https://relay.example/in --relay-extended-state --loopback-path /back",
            "--scheme-redirect com.example.app:/callback",
        ]
        #expect(deployment.addition(as: "lab-claims") == words.joined(separator: " "))
        #expect(deployment.nameWithClaims(besides: ["lab"]) == "lab-claims")
        #expect(deployment.nameWithClaims(besides: ["lab-claims", "lab-claims-2"]) == "lab-claims-3")
        let plain = try Deployment(name: String(repeating: "n", count: 64), base: "https://cloud.example")
        #expect(throws: Never.self) {
            try Deployment(name: plain.nameWithClaims(besides: []), base: "https://cloud.example")
        }
        #expect(plain.addition(as: "n") == "rainctl profile add n --base-url https://cloud.example")
    }

    @Test("what finishes a claim is printed as commands for a shell in any folder")
    func unfinished() {
        let writing = [
            "py thon", "-m", "esptool", "--port", "/dev/ttyUSB0", "write_flash", "0x3fa000", "/kept/image.bin",
        ]
        var claim = UnfinishedClaim(
            error: RainKitError(.request(.unavailable, reason: "esptool_failed"), message: "The flash is worn."),
            node: NodeID("n1"), kept: .image("/kept/image.bin"), makingImage: nil, writingImage: writing)
        let error = RainKitError(.unfinishedClaim(claim), message: "for libraries")
        let failure = CommandFailure(error)
        #expect(failure.status == .unavailable && failure.reason == "esptool_failed")
        #expect(
            failure.message == """
                The flash is worn. The board is claimed as the node n1. The image, with the board's private key, is kept in /kept/image.bin. To \
                finish, write the image with PYTHONSAFEPATH=1 'py thon' -m esptool --port /dev/ttyUSB0 write_flash 0x3fa000 \
                /kept/image.bin, then delete the file of the image.
                """)
        claim.kept = .rows("/kept/rows.csv", image: "/kept/image.bin")
        claim.makingImage = ["python3", "-m", "esp_idf_nvs_partition_gen", "generate", "/kept/rows.csv"]
        claim.writingImage = nil
        #expect(
            CommandFailure(claim).message.hasSuffix(
                "make the image with PYTHONSAFEPATH=1 python3 -m esp_idf_nvs_partition_gen generate /kept/rows.csv, flash the "
                    + "image to the partition fctry, then delete the credentials and the image."))
        claim.kept = .nothing
        #expect(CommandFailure(claim).message.hasSuffix("The board's key is lost: run this command again."))
    }
}
