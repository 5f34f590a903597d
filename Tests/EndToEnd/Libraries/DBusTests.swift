// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("A connection to D-Bus")
struct DBusTests {
    private func onBus(_ body: (SessionBusDaemon) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            try await body(bus)
            try await bus.end()
        }
    }

    private func withEcho(_ body: (DBusClient) async throws -> Void) async throws {
        try await withEcho { client, _ in try await body(client) }
    }

    private func withEcho(_ body: (DBusClient, EchoService) async throws -> Void) async throws {
        try await onBus { bus in
            let service = try await EchoService(on: bus.address)
            let client = try await DBusClient.connect(.at(bus.address))
            do { try await body(client, service) } catch {
                await service.stop()
                throw error
            }
            client.close()
            await service.stop()
        }
    }

    static let values: [DBusValue] = [
        .byte(0), .byte(255), .bool(true), .bool(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max),
        .int64(.min), .uint64(.max), .double(-0.5), .string(""), .string("Grüße 🌧"), .objectPath("/org/bluez/hci0"),
        .signature("a{sv}"), .bytes([]), .bytes(Array(0...255)), .strings([]), .strings(["read", "write"]),
        .array([.objectPath("/a"), .objectPath("/b")], of: "o"), .array([.int16(-3)], of: "n"),
        .array([.array([.byte(1)], of: "y")], of: "ay"),
        .structure([.string("a"), .structure([.byte(1), .bytes([2])])]),
        .variant(.uint16(23)), .variant(.variant(.strings(["deep"]))), .properties([]),
        .properties([("RSSI", .int16(-60)), ("UUIDs", .strings(["180a"])), ("Value", .bytes([1, 2]))]),
        .numbered([(0x02E5, .bytes([1]))]),
        .dictionary(
            [
                DBusEntry(
                    .objectPath("/org"),
                    .dictionary([DBusEntry(.string("i"), .properties([("P", .bool(true))]))], key: "s", value: "a{sv}"))
            ],
            key: "o", value: "a{sa{sv}}"),
    ]

    /// An array of bytes comes back as ``DBusValue/bytes(_:)``, whichever way it was written.
    private func normal(_ value: DBusValue) -> DBusValue {
        guard case .array(let elements, let signature) = value else { return value }
        if signature == "y" { return .bytes(elements.compactMap { UInt8(exactly: $0.integer ?? -1) }) }
        return .array(elements.map(normal), of: signature)
    }

    @Test("carries every type there and back")
    func types() async throws {
        try await withEcho { client in
            for value in Self.values {
                let answer = try await client.call(EchoService.call("Echo", [value]), within: .waitLimit)
                #expect(answer == [normal(value)])
            }
            let all = try await client.call(EchoService.call("Echo", Self.values), within: .waitLimit)
            #expect(all == Self.values.map(normal))
        }
    }

    /// dbus-daemon refuses a call while 128 others of the connection have no answer. It also counts those that this side gave up.
    @Test("a thousand calls at once all get their answers", arguments: [0, 60])
    func crowd(givenUp: Int) async throws {
        try await withEcho { client in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<givenUp {
                    group.addTask {
                        await #expect(throws: DBusError.self) {
                            try await client.call(EchoService.call("Silence"), within: .milliseconds(50))
                        }
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        let answer = try await client.call(
                            EchoService.call("Held", [.int32(Int32(number))]), within: .waitLimit)
                        #expect(answer == [.int32(Int32(number))])
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("says what busctl says, and understands it")
    func foreign() async throws {
        try await onBus { bus in
            let service = try await EchoService(on: bus.address)
            let found = try await bus.run(
                "busctl",
                [
                    "--address=\(bus.address)", "call", EchoService.name, "/org/example", EchoService.name, "Echo",
                    "sa{sv}ayoqnd(sb)", "text", "2", "A", "n", "--", "-7", "B", "as", "2", "x", "y", "3", "1", "2",
                    "255",
                    "/a/b", "512", "-60", "0.25", "in", "true",
                ])
            await service.stop()
            #expect(
                found.standardOutput
                    == "sa{sv}ayoqnd(sb) \"text\" 2 \"A\" n -7 \"B\" as 2 \"x\" \"y\" 3 1 2 255 \"/a/b\" 512 -60 0.25 \"in\" true\n",
                "\(found.standardError)")
        }
    }

    @Test("carries four megabytes, and refuses what is nested without end")
    func sizes() async throws {
        try await withEcho { client in
            let large = DBusValue.bytes([UInt8](repeating: 7, count: 4 << 20))
            let answer = try await client.call(EchoService.call("Echo", [large]), within: .waitLimit)
            #expect(answer == [large])
            var deep = DBusValue.byte(1)
            for _ in 0..<40 { deep = .variant(deep) }
            await #expect { try await client.call(EchoService.call("Echo", [deep]), within: .waitLimit) } throws: {
                ($0 as? DBusError)?.code == .malformed
            }
            // The connection lives on.
            let after = try await client.call(EchoService.call("Echo", [.byte(1)]), within: .waitLimit)
            #expect(after == [.byte(1)])
        }
    }

    @Test(
        "refuses values that break the rules",
        arguments: [
            DBusValue.objectPath("not a path"), .signature("("), .array([.byte(1)], of: "s"), .array([], of: "?"),
        ])
    func malformed(_ value: DBusValue) async throws {
        try await withEcho { client in
            await #expect { try await client.call(EchoService.call("Echo", [value]), within: .waitLimit) } throws: {
                ($0 as? DBusError)?.code == .malformed
            }
        }
    }

    @Test("tells a remote error by its name, silence by the deadline, and nobody there")
    func failures() async throws {
        try await withEcho { client in
            func failure(_ call: DBusCall, within limit: Duration = .waitLimit) async -> DBusError? {
                do {
                    _ = try await client.call(call, within: limit)
                    return nil
                } catch { return error }
            }
            let failed = await failure(EchoService.call("Fail"))
            #expect(failed?.name == "org.example.Error.Failed")
            #expect(failed?.message == "as you wish")
            #expect(await failure(EchoService.call("Silence"), within: .milliseconds(150))?.code == .timeout)
            await #expect {
                try await client.call(EchoService.call("Silence"), within: .milliseconds(-1))
            } throws: {
                ($0 as? DBusError)?.code == .timeout
            }
            let absent = await failure(DBusCall("org.example.Absent", "/", "org.example.Absent", "Any"))
            #expect(absent?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
        }
    }

    @Test("ends a cancelled call at once, and the others go on")
    func cancellation() async throws {
        try await withEcho { client in
            for pause in [0, 20] {
                let task = Task { try await client.call(EchoService.call("Silence"), within: .seconds(60)) }
                if pause > 0 { try await Task.sleep(for: .milliseconds(pause)) }
                task.cancel()
                await #expect { try await task.value } throws: { ($0 as? DBusError)?.code == .cancelled }
            }
            let after = try await client.call(EchoService.call("Echo", [.byte(9)]), within: .waitLimit)
            #expect(after == [.byte(9)])
        }
    }

    @Test("closing ends every call, before and after")
    func closing() async throws {
        try await withEcho { client, service in
            let task = Task { try await client.call(EchoService.call("Silence"), within: .seconds(60)) }
            try await service.keptSilent()
            client.close()
            client.close()
            await #expect { try await task.value } throws: { ($0 as? DBusError)?.code == .cancelled }
            await #expect { try await client.call(EchoService.call("Echo"), within: .waitLimit) } throws: {
                ($0 as? DBusError)?.code == .cancelled
            }
        }
    }

    @Test("hands signals out in order, and before the reply that came after them")
    func signals() async throws {
        try await onBus { bus in
            let service = try await EchoService(on: bus.address)
            let seen = Mutex<[Int]>([])
            let client = try await DBusClient.connect(
                .at(bus.address),
                handlers: .init(signal: { message in
                    guard message.member == "Shouted", let number = message.arguments.first?.integer else { return }
                    seen.withLock { $0.append(number) }
                }))
            try await client.match("type='signal',interface='\(EchoService.name)'")
            try await client.call(EchoService.call("Shout"), within: .waitLimit)
            #expect(seen.withLock { $0 } == Array(0..<100))
            client.close()
            await service.stop()
        }
    }

    @Test("a deadline holds while others talk without end")
    func flood() async throws {
        try await onBus { bus in
            let service = try await EchoService(on: bus.address)
            // Signals are taken more slowly than they come.
            let client = try await DBusClient.connect(.at(bus.address), handlers: .init(signal: { _ in usleep(2000) }))
            try await client.match("type='signal',interface='\(EchoService.name)'")
            // Two thousand signals are waiting when the call is sent, and more arrive until it has ended.
            for _ in 0..<20 { await client.post(EchoService.call("Shout")) }
            let talk = Task {
                let end = ContinuousClock.now + .waitLimit
                while ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(100))
                    await client.post(EchoService.call("Shout"))
                }
            }
            await #expect {
                try await client.call(EchoService.call("Silence"), within: .milliseconds(50))
            } throws: {
                ($0 as? DBusError)?.code == .timeout
            }
            talk.cancel()
            // Somebody talked when the call ended.
            await #expect(throws: CancellationError.self) { try await talk.value }
            client.close()
            await service.stop()
        }
    }

    @Test("many calls at once get each its own answer")
    func concurrency() async throws {
        try await withEcho { client in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        try await client.call(EchoService.call("Echo", [.int32(Int32(number))]), within: .waitLimit)
                            == [.int32(Int32(number))]
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test("calls to us are answered")
    func served() async throws {
        try await onBus { bus in
            let client = try await DBusClient.connect(
                .at(bus.address),
                handlers: .init(call: { call in
                    call.member == "Ask" ? .reply([.string("answer")]) : .error(name: "org.example.No", message: "no")
                }))
            try await client.call(.bus("RequestName", [.string("org.example.Agent"), .uint32(4)]), within: .waitLimit)
            let call = ["--session", "--print-reply", "--dest=org.example.Agent", "/agent"]
            let asked = try await bus.run("dbus-send", call + ["org.example.Agent.Ask"])
            #expect(asked.standardOutput.contains("\"answer\""))
            let refused = try await bus.run("dbus-send", call + ["org.example.Agent.Other"])
            #expect(refused.standardError.contains("org.example.No"))
            client.close()
        }
    }

    @Test("a missing bus is reported within the deadline, and a bus that ends is noticed")
    func absence() async throws {
        await #expect { try await DBusClient.connect(.at("unix:path=/nonexistent/bus")) } throws: {
            ($0 as? DBusError)?.code == .unavailable
        }
        try await onBus { bus in
            let (lost, told) = AsyncStream.makeStream(of: DBusError.self)
            let client = try await DBusClient.connect(
                .at(bus.address), handlers: .init(lost: { told.yield($0) }))
            let task = Task { try await client.call(.bus("Hello"), within: .seconds(60)) }
            _ = try? await task.value
            try await bus.end()
            let first = await lost.first { _ in true }
            #expect(first?.code == .disconnected)
            await #expect { try await client.call(.bus("GetId"), within: .waitLimit) } throws: {
                ($0 as? DBusError)?.code == .disconnected
            }
        }
    }
}
