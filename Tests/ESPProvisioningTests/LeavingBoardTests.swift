// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ESPProvisioning
import Protocomm
import ProtocommCore
import RainCore
import RainKitTesting
import Synchronization
import Testing

/// Firmware schedules its stop when a client has read Connected, frees the proof of Security 1 at once, and serves for another second.
@Suite("A board that is ending its provisioning service")
struct LeavingBoardTests {
    private let home: WiFiNetwork

    init() throws { home = try WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse")) }

    struct Firmware: Sendable, CustomTestStringConvertible {
        var security: SecurityVersion
        var hasProof = true
        /// A new handshake succeeds while the board is stopping.
        var takesHandshakes: Bool { security != .security1 || !hasProof }
        var testDescription: String { "\(security), \(hasProof ? "with" : "without") proof" }

        func make(_ options: ProvisioningOptions = ProvisioningOptions()) throws -> FirmwareInMemory {
            try FirmwareInMemory(options, joinDelay: 1400, security: security, hasProof: hasProof)
        }
    }

    static let all = [
        Firmware(security: .security0), Firmware(security: .security1), Firmware(security: .security1, hasProof: false),
        Firmware(security: .security2),
    ]

    @Test(
        "one lost answer, the one that says Connected, costs no wrong verdict and no long wait", arguments: all,
        [InMemoryTransport.Fault.loseAnswer, .truncateAnswer(0), .truncateAnswer(3)])
    func lostConnected(kind: Firmware, fault: InMemoryTransport.Fault) async throws {
        let firmware = try kind.make()
        let isLost = Mutex(false)
        let board = try await firmware.securedBoard { _, endpoint in
            guard endpoint == .config, firmware.clock.now.offset >= .milliseconds(1400) else { return nil }
            return isLost.withLock { isLost in
                defer { isLost = true }
                return isLost ? nil : fault
            }
        }
        let (home, clock) = (home, firmware.clock)
        let outcome = try await clock.run { () async throws -> Result<JoinedNetwork, BoardError> in
            try await board.join(home)
            do throws(BoardError) {
                return .success(try await board.watch { _ in })
            } catch {
                return .failure(error)
            }
        }
        #expect(isLost.withLock { $0 })
        switch outcome {
        case .success(let network): #expect(network.ssid == SSID("Home") && kind.takesHandshakes)
        case .failure(let error):
            #expect(!kind.takesHandshakes)
            #expect(error.code == .deviceLost, "\(error)")
            #expect(error.message.hasPrefix("The board at in memory is ending its provisioning service"), "\(error)")
        }
        #expect(clock.now.offset < .seconds(3), "\(clock.now.offset)")
    }

    @Test("one silent status costs less than a second, whatever the scheme", arguments: all)
    func silentStatus(kind: Firmware) async throws {
        let firmware = try FirmwareInMemory(joinDelay: 5000, security: kind.security, hasProof: kind.hasProof)
        let lost = Mutex<[Duration]>([])
        let board = try await firmware.securedBoard { _, endpoint in
            guard endpoint == .config, firmware.clock.now.offset >= .seconds(2) else { return nil }
            return lost.withLock { lost in
                if lost.count < 2 { lost.append(firmware.clock.now.offset) }
                return lost.count < 2 ? .loseAnswer : nil
            }
        }
        let home = home
        let joined = try await firmware.clock.run { () async throws in
            try await board.join(home)
            return try await board.watch { _ in }
        }
        #expect(joined.ssid == SSID("Home"))
        let times = lost.withLock { $0 }
        #expect(times.count == 2 && times[1] - times[0] < .seconds(1), "\(times)")
    }

    @Test("another client that has read Connected does not make this one's proof wrong", arguments: all)
    func anotherClient(kind: Firmware) async throws {
        let firmware = try kind.make()
        let first = try await firmware.securedBoard()
        let second = try await firmware.securedBoard()
        let home = home
        let outcome = try await firmware.clock.run { () async throws -> Result<JoinedNetwork, BoardError> in
            // Takes the session back.
            try await first.secure()
            try await first.join(home)
            _ = try await first.watch { _ in }
            do throws(BoardError) {
                try await second.join(home)
                return .success(try await second.watch { _ in })
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .success(let network): #expect(network.ssid == SSID("Home") && kind.takesHandshakes)
        case .failure(let error):
            #expect(!kind.takesHandshakes && error.code == .deviceLost, "\(error)")
        }
    }

    @Test(
        "a board that others have stopped by wrong proofs is not said to be trying a network",
        arguments: all.filter { $0.hasProof && $0.security != .security0 })
    func stoppedByWrongProofs(kind: Firmware) async throws {
        let firmware = try kind.make(ProvisioningOptions(wrongProofLimit: 1))
        let board = try await firmware.securedBoard()
        let other = firmware.board(proof: "wrong")
        _ = try? await other.secure()
        let told = Mutex<[WiFiProgress]>([])
        let home = home
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run {
                try await board.join(home) { progress in told.withLock { $0.append(progress) } }
            }
        }
        #expect(error.map { [.deviceLost, .mayBeJoining].contains($0.code) } == true, "\(String(describing: error))")
        #expect(error?.message.contains("provisioning service") == true, "\(String(describing: error))")
        #expect(error?.message.contains("has refused five proofs") == true)
        #expect(told.withLock { $0 }.isEmpty)
    }
}
