// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import Glibc
import ProtocommCore
import RainJSON

/// What happened, as one JSON object a line: what tests count and assert on. No secret is ever written.
///
/// Each line has `t` (milliseconds since the start) and `event`. `request`: `transport`, `endpoint`, `bytes` (as they
/// arrived), `outcome` (`reply`, `refused`, or `lost` with the board). `state`: `change` and what belongs to it. `publish`: `topic` and `bytes`,
/// once the broker has acknowledged it. `ready` and `end` are the first and the last.
///
/// `wire`, on a console whose speed is given, whenever the board has said all that it had to say: the bytes `received` and `sent` by then, and
/// how long either direction has carried any, `busy_ms`.
///
/// Over BLE there may be many boards: `board` then names the one that a line is about. `fault`: `what` the radio did to it.
final class Journal {
    private let descriptor: Int32?
    private let label: [JSONValue.Member]

    init(path: String?) throws {
        label = []
        guard let path else {
            descriptor = nil
            return
        }
        let opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw StartError("\(path) cannot be written: \(lastSystemError())") }
        descriptor = opened
    }

    private init(descriptor: Int32?, label: [JSONValue.Member]) {
        self.descriptor = descriptor
        self.label = label
    }

    /// The same journal, each line of which names a board.
    func about(board name: String) -> Journal {
        Journal(descriptor: descriptor, label: [.init("board", .string(name))])
    }

    func request(transport: String, endpoint: Endpoint, length: Int, outcome: String) {
        write(
            "request",
            [
                .init("transport", .string(transport)), .init("endpoint", .string(endpoint.description)),
                .init("bytes", .integer(Int64(length))), .init("outcome", .string(outcome)),
            ])
    }

    func state(_ change: String, _ members: [JSONValue.Member] = []) {
        write("state", [.init("change", .string(change))] + members)
    }

    func publish(topic: String, length: Int) {
        write("publish", [.init("topic", .string(topic)), .init("bytes", .integer(Int64(length)))])
    }

    func write(_ event: String, _ members: [JSONValue.Member] = []) {
        guard let descriptor else { return }
        let head: [JSONValue.Member] = [
            .init("t", .integer(Int64(MonotonicClock.now))), .init("event", .string(event)),
        ]
        // One write for each line, so that a reader never sees half of one.
        let line = JSONValue.object(head + label + members).serialized() + [0x0A]
        _ = line.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
