// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import firmware_sim

@Suite("The simulated radio: attributes")
struct RadioAttributeTests {
    @Test("a write is answered when the board has dealt with it, and a read shows what it left")
    func exchange() {
        let radio = RadioHarness()
        radio.connect()
        _ = radio.takeLog()
        radio.write([1, 2, 3], to: RadioHarness.characteristic, .properties([("type", .string("request"))]))
        #expect(radio.takeLog() == ["reply WriteValue"], "a client's own write is no change of Value")
        let read = radio.read()
        #expect(radio.value(of: read) == .bytes([1, 2, 3]))
        #expect(radio.takeLog() == ["changed dev/service000c/char0013 Value=[1, 2, 3]", "reply ReadValue"])
        let rest = radio.read(RadioHarness.characteristic, .properties([("offset", .uint16(2))]))
        #expect(radio.value(of: rest) == .bytes([3]))
        let beyond = radio.read(RadioHarness.characteristic, .properties([("offset", .uint16(4))]))
        #expect(radio.error(of: beyond) == "org.bluez.Error.InvalidArguments: Invalid offset")
    }

    @Test("a description is the endpoint's name, and cannot be written")
    func description() {
        let radio = RadioHarness()
        radio.connect()
        #expect(radio.value(of: radio.read(RadioHarness.descriptor)) == .bytes(Array("prov-session".utf8)))
        let rest = radio.read(RadioHarness.descriptor, .properties([("offset", .uint16(5))]))
        #expect(radio.value(of: rest) == .bytes(Array("session".utf8)))
        let write = radio.call(
            RadioHarness.descriptor, "org.bluez.GattDescriptor1", "WriteValue", [.bytes([1]), .properties([])])
        #expect(radio.error(of: write) == "org.bluez.Error.NotPermitted: Write not permitted")
    }

    @Test(
        "errors of the board are those that BlueZ makes of them",
        arguments: [
            (ATTError(code: 0x04), "org.bluez.Error.Failed: Operation failed with ATT error: 0x04"),
            (ATTError(code: 0x0E), "org.bluez.Error.Failed: Operation failed with ATT error: 0x0e"),
            (ATTError(code: 0x85), "org.bluez.Error.Failed: Operation failed with ATT error: 0x85"),
            (ATTError(code: 0x0D), "org.bluez.Error.InvalidArguments: Invalid Length"),
            (ATTError(code: 0x07), "org.bluez.Error.InvalidArguments: Invalid offset"),
            (ATTError(code: 0x02), "org.bluez.Error.NotPermitted: Read not permitted"),
            (ATTError(code: 0x03), "org.bluez.Error.NotPermitted: Write not permitted"),
            (ATTError(code: 0x05), "org.bluez.Error.NotPermitted: Not paired"),
            (ATTError(code: 0x0C), "org.bluez.Error.NotPermitted: Not paired"),
            (ATTError(code: 0x0F), "org.bluez.Error.NotPermitted: Not paired"),
            (ATTError(code: 0x08), "org.bluez.Error.NotAuthorized: Operation Not Authorized"),
            (ATTError(code: 0x06), "org.bluez.Error.NotSupported: Operation is not supported"),
        ])
    func errors(error: ATTError, text: String) {
        let radio = RadioHarness()
        radio.outcome = { _, _ in .refused(error, closesLink: false) }
        radio.connect()
        #expect(radio.error(of: radio.write([1])) == text)
        #expect(radio.radio.devices[0].isResolved, "the link stays")
    }

    @Test("Bluedroid closes the link behind its refusal")
    func closedByBoard() {
        let radio = RadioHarness()
        radio.outcome = { _, _ in .refused(.bluedroidError, closesLink: true) }
        radio.connect()
        _ = radio.takeLog()
        radio.write([1])
        #expect(
            radio.takeLog() == [
                "error WriteValue Operation failed with ATT error: 0x85", "changed dev ServicesResolved=false",
                "changed dev Connected=false", "down closed by the board",
            ])
    }

    @Test("one write at a time on a characteristic; other operations wait, and the same read is joined")
    func pendingWrite() {
        let radio = RadioHarness()
        radio.outcome = { _, _ in .later }
        radio.connect()
        let first = radio.write([1])
        let second = radio.write([2])
        #expect(radio.error(of: second) == "org.bluez.Error.InProgress: In Progress")
        let read = radio.read()
        let same = radio.read(by: ":1.2")
        let other = radio.read(RadioHarness.characteristic, .properties([("offset", .uint16(1))]))
        #expect(radio.error(of: other) == "org.bluez.Error.InProgress: In Progress")
        #expect(!radio.isAnswered(first) && !radio.isAnswered(read) && !radio.isAnswered(same))
        radio.finishWrite()
        #expect(radio.isAnswered(first) && radio.value(of: read) == .bytes([]) && radio.value(of: same) == .bytes([]))
        #expect(radio.log.filter { $0.contains("Value=") }.count == 1)
    }

    @Test("a link that breaks answers the write in flight, and all that waits")
    func lostInFlight() {
        let radio = RadioHarness()
        radio.outcome = { _, _ in .later }
        radio.connect()
        let write = radio.write([1])
        let read = radio.read()
        _ = radio.takeLog()
        radio.setServing(0, false)
        #expect(radio.error(of: write) == "org.bluez.Error.Failed: Operation failed")
        #expect(radio.error(of: read) == "org.bluez.Error.Failed: Not connected")
        #expect(radio.takeLog().suffix(2) == ["changed dev Connected=false", "down service stopped"])
        radio.finishWrite()
        #expect(radio.takeLog() == [], "what the board finds out later concerns nobody")
    }

    @Test("links are lost around some write: before the board has it, after it, or before its answer is read")
    func lostAfterSome() {
        var moments: Set<String> = []
        for seed in 0..<60 {
            var faults = RadioFaults()
            faults.lose = 1
            let radio = RadioHarness(faults, seed: UInt64(seed))
            var handled = 0
            radio.connect()
            for count in 1...20 {
                let write = radio.write([UInt8(count)])
                let hasValue = radio.effects.contains {
                    if case .write(_, _, let value) = $0 { value == [UInt8(count)] } else { false }
                }
                if hasValue { handled = count }
                guard radio.log.contains("fault lose") else { continue }
                #expect(radio.log.contains("down lost") && count <= 9)
                moments.insert(
                    "\(handled == count ? "handled" : "not handled"), \(radio.error(of: write) ?? "acknowledged")")
                break
            }
            #expect(radio.log.contains("fault lose"))
        }
        #expect(
            moments == [
                "not handled, org.bluez.Error.Failed: Operation failed",
                "handled, org.bluez.Error.Failed: Operation failed", "handled, acknowledged",
            ])
    }

    @Test("before the services are resolved, and after the link, there is nothing to read")
    func notConnected() {
        let radio = RadioHarness()
        radio.connect()
        radio.device("Disconnect")
        #expect(radio.error(of: radio.read()) == "org.bluez.Error.Failed: Not connected")
        radio.advance(2000)
        #expect(radio.error(of: radio.write([1])) == "org.bluez.Error.Failed: Not connected")
        #expect(radio.error(of: radio.read(RadioHarness.descriptor)) == "org.bluez.Error.Failed: Not connected")
    }

    @Test(
        "forced encryption: names are read without it; Pair needs an agent, and serves for the link; the key ends with that"
    )
    func encryption() {
        var faults = RadioFaults()
        faults.needsPairing = true
        let radio = RadioHarness(faults)
        radio.connect()
        #expect(radio.error(of: radio.read(RadioHarness.descriptor)) == nil)
        let alone = radio.device("Pair")
        #expect(radio.error(of: alone) == "org.bluez.Error.AuthenticationFailed: Authentication Failed")
        let agent = radio.call(
            "/org/bluez", "org.bluez.AgentManager1", "RegisterAgent",
            [.objectPath("/agent"), .string("NoInputNoOutput")])
        #expect(radio.isAnswered(agent))
        let pair = radio.device("Pair")
        radio.advance(60)
        #expect(radio.error(of: pair) == nil && radio.isAnswered(pair))
        #expect(radio.log.contains("changed dev Paired=true"))
        #expect(radio.error(of: radio.write([1])) == nil)
        #expect(!radio.log.contains { $0.hasPrefix("ask") })
        #expect(radio.error(of: radio.device("Pair")) == "org.bluez.Error.AlreadyExists: Already Exists")
        radio.setServing(0, false)
        #expect(radio.log.contains("changed dev Connected=false Paired=false"))
    }

    @Test(
        "what the characteristics cannot do is not supported",
        arguments: [
            ("StartNotify", []), ("StopNotify", []), ("AcquireWrite", [.properties([])]),
            ("AcquireNotify", [.properties([])]),
            ("WriteValue", [.bytes([1]), .properties([("type", .string("command"))])]),
        ] as [(String, [DBusValue])])
    func notSupported(member: String, arguments: [DBusValue]) {
        let radio = RadioHarness()
        radio.connect()
        let call = radio.call(RadioHarness.characteristic, "org.bluez.GattCharacteristic1", member, arguments)
        #expect(radio.error(of: call) == "org.bluez.Error.NotSupported: Operation is not supported")
    }

    @Test("options of wrong types are refused")
    func wrongOptions() {
        let radio = RadioHarness()
        radio.connect()
        for options: DBusValue in [
            .properties([("offset", .int32(1))]), .properties([("type", .string("sideways"))]),
            .properties([("type", .uint16(1))]),
        ] {
            let write = radio.write([1], to: RadioHarness.characteristic, options)
            #expect(radio.error(of: write) == "org.bluez.Error.InvalidArguments: Invalid arguments in method call")
        }
    }
}
