// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Foundation
import Glibc
import Synchronization
import TestSupport

/// A service on a test's bus that sends every call's arguments back, on its own thread.
///
/// `Silence` is never answered, `Fail` with an error, `Shout` after a hundred signals, `Held` once no other call has come.
final class EchoService: Sendable {
    static let name = "org.example.Echo"
    private let isStopped = Mutex(false)
    private let silences = Mutex(0)
    private let over: AsyncStream<Never>

    /// Returns when the name is owned.
    init(on address: String) async throws {
        let (over, end) = AsyncStream.makeStream(of: Never.self)
        self.over = over
        let started = await withCheckedContinuation { (ready: CheckedContinuation<Result<Void, any Error>, Never>) in
            Thread.detachNewThread { [self] in
                serve(address, ready)
                end.finish()
            }
        }
        try started.get()
    }

    private func serve(_ address: String, _ ready: CheckedContinuation<Result<Void, any Error>, Never>) {
        let connection: DBusConnection
        do {
            connection = try DBusConnection(.at(address))
            _ = try connection.callAndWait(.bus("RequestName", [.string(Self.name), .uint32(4)]))
        } catch { return ready.resume(returning: .failure(error)) }
        ready.resume(returning: .success(()))
        var held: [DBusMessage] = []
        while !isStopped.withLock({ $0 }) {
            do {
                while let message = try connection.process() {
                    if message.member == "Held" { held.append(message) } else { try answer(message, connection) }
                }
                for message in held { try connection.send(.reply(to: message, message.arguments)) }
            } catch { return }
            held = []
            var waiting = pollfd(fd: connection.descriptor, events: connection.events, revents: 0)
            _ = Glibc.poll(&waiting, 1, 20)
        }
    }

    private func answer(_ message: DBusMessage, _ connection: DBusConnection) throws {
        guard message.kind == .call else { return }
        switch message.member {
        case "Silence": silences.withLock { $0 += 1 }
        case "Fail": try connection.send(.error(to: message, name: "org.example.Error.Failed", message: "as you wish"))
        case "Shout":
            for number in 0..<100 {
                try connection.send(
                    .signal(path: "/org/example", interface: Self.name, member: "Shouted", [.int32(Int32(number))]))
            }
            try connection.send(.reply(to: message, []))
        default: try connection.send(.reply(to: message, message.arguments))
        }
    }

    /// Waits until a call that is never answered has come.
    func keptSilent() async throws {
        let end = ContinuousClock.now + .waitLimit
        while ContinuousClock.now < end {
            guard silences.withLock({ $0 }) == 0 else { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ProcessError("nobody called Silence")
    }

    func stop() async {
        isStopped.withLock { $0 = true }
        for await _ in over {}
    }

    static func call(_ member: String, _ arguments: [DBusValue] = []) -> DBusCall {
        DBusCall(name, "/org/example", name, member, arguments)
    }
}
