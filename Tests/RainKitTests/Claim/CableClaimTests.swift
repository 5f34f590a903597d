// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainMaker
import TestSupport
import Testing

@testable import RainKit

@Suite("Claiming over the cable")
struct CableClaimTests {
    @Test("a deployment without a claim service is refused before any program is started")
    func noService() async throws {
        let deployment = try Deployment(name: "bare", base: "https://cloud.example")
        let kit = RainKitClient(.inMemory(deployment: deployment))
        let error = await #expect(throws: RainKitError.self) {
            try await kit.claimOverCable(CableClaimRequest(python: "/nonexistent/python"))
        }
        #expect(error?.reason == "unsupported" && error?.code == .config && error?.remedies == [.claimService])
        #expect(error?.message.contains("bare has no claim service") == true)
    }

    @Test(
        "a request that cannot work is refused",
        arguments: [
            CableClaimRequest(mac: "7cdfa1000042"), CableClaimRequest(mac: "7CDFA100004"),
            CableClaimRequest(mac: "7CDFA100004G"), CableClaimRequest(flashAddress: 0x340001),
        ])
    func problem(request: CableClaimRequest) async {
        let error = await #expect(throws: RainKitError.self) {
            try await RainKitClient(.inMemory()).claimOverCable(request)
        }
        #expect(error?.code == .usage && error?.reason == "invalid_argument")
    }

    @Test("a flash without the partition for credentials is refused, unless the caller gives an address")
    func place() throws {
        for (table, reason) in [([], "no_partition_table"), (Self.table("storage"), "no_factory_partition")] {
            let error = #expect(throws: RainKitError.self) { try CableClaimRun.place(table, nil) }
            #expect(error?.reason == reason && error?.remedies == [.flashAddress])
            #expect(try CableClaimRun.place(table, 0x34_0000) == (0x34_0000, 0x6000))
        }
        #expect(try CableClaimRun.place(Self.table("fctry"), nil) == (0x3F_A000, 0x6000))
    }

    private static func table(_ label: String) -> [UInt8] {
        let numbers = [0x3F_A000, 0x6000].flatMap { number in
            (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let name = Array(label.utf8) + [UInt8](repeating: 0, count: 16 - label.utf8.count)
        return [0xAA, 0x50, 1, 2] + numbers + name + [0, 0, 0, 0]
    }

    @Test(
        "esptool's failures are distinguished",
        arguments: [
            ("A fatal error occurred: Could not open /dev/ttyUSB0, the port is busy", "no_port"),
            ("A fatal error occurred: Failed to connect to ESP32: No serial data received.\nHint: x", "no_boot_loader"),
            ("A fatal error occurred: the flash is worn", "esptool_failed"), ("", "esptool_failed"),
        ])
    func failures(output: String, reason: String) {
        let error = Esptool.failure(output, at: "/dev/ttyUSB0")
        #expect(error.code == .unavailable && error.reason == reason)
        #expect(error.message.contains("/dev/ttyUSB0") && !error.message.contains("Hint"))
    }

    @Test("the address used for claims is the base address")
    func mac() {
        #expect(Esptool.mac(in: "MAC: 7c:df:a1:00:00:42\n") == "7CDFA1000042")
        #expect(
            Esptool.mac(in: "MAC: 40:4c:ca:ff:fe:40:00:42\nBASE MAC: 40:4c:ca:40:00:42\n") == "404CCA400042")
        #expect(Esptool.mac(in: "Chip is ESP32-C3") == nil)
    }

    @Test(
        "a claim that failed after the cloud's part has the code and remedies of its cause, and reports the kept files")
    func unfinished() {
        var claim = UnfinishedClaim(
            error: RainKitError(.deadline, message: "python3 did not end in time."), node: NodeID("n1"),
            kept: .image("/state/claims/kept-1/image.bin"), makingImage: nil, writingImage: nil)
        let error = RainKitError(.unfinishedClaim(claim), message: claim.message)
        #expect(error.code == .deadline && error.reason == "deadline" && error.remedies == [.moreTime])
        #expect(
            error.message
                == "python3 did not end in time. The board is claimed as the node n1. The image, with the board's private key, is kept in "
                + "/state/claims/kept-1/image.bin.")
        claim.kept = .nothing
        #expect(claim.message.hasSuffix("the board's key was lost. Claim the board again."))
    }

    @Test("the tools do not inherit clients' secrets")
    func environment() throws {
        var configuration = RainKitConfiguration.inMemory()
        configuration.environment = ["RAINKIT_CLIENT_SECRET": "s", "LANG": "C"]
        #expect(RainKitClient(configuration).programEnvironment == ["LANG": "C"])
    }

    @Test("a program that does not exist is not started")
    func noProgram() async throws {
        let error = await #expect(throws: RainKitError.self) {
            try await ChildProgram(environment: [:]).run(["/nonexistent/program"], within: .seconds(1))
        }
        #expect(error?.reason == "no_program" && error?.code == .unavailable)
    }
}
