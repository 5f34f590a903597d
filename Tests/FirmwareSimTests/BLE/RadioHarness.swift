// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainDBus
import Testing

@testable import firmware_sim

/// Drives a ``SimulatedBlueZ`` by hand: calls and times in, a readable log of what came out.
final class RadioHarness {
    var radio: SimulatedBlueZ
    var now: UInt64 = 1000
    /// Everything that was said, in order: `changed dev Connected=true`, `added dev/service000c`, `reply Connect`, `error Connect Failed: text`, `up`, …
    var log: [String] = []
    var effects: [RadioEffect] = []
    /// What the boards answer to writes; by default all is well, and the value read is the one written.
    var outcome: (Int, [UInt8]) -> GATTWriteOutcome = { _, _ in .acknowledged }
    var values: [Int: [UInt8]] = [:]
    /// What agents answer; nil for nothing yet.
    var agentAgrees: Bool? = true
    private var nextID: UInt64 = 0

    static let endpoints: [Endpoint] = [.control, .scan, .session, .config, .version, .userMapping]
    static let device = "/org/bluez/hci0/dev_7C_DF_A1_00_00_01"
    static let service = device + "/service000c"
    static let characteristic = service + "/char0013"
    static let descriptor = characteristic + "/desc0015"

    init(_ faults: RadioFaults = RadioFaults(), boards: Int = 1, seed: UInt64 = 1) {
        radio = SimulatedBlueZ(
            boards: (0..<boards).map { index in
                let number = String(index + 1, radix: 16).uppercased()
                return (
                    address: "7C:DF:A1:00:00:" + (number.count < 2 ? "0" : "") + number, name: "PROV_\(index)",
                    application: GATTApplication(endpoints: Self.endpoints)
                )
            }, faults: faults, seed: seed)
    }

    // MARK: doing

    @discardableResult
    func call(
        _ path: String, _ interface: String?, _ member: String, _ arguments: [DBusValue] = [],
        by sender: String = ":1.1"
    ) -> RadioCall {
        nextID += 1
        let call = RadioCall(
            id: nextID, sender: sender, path: path, interface: interface, member: member, arguments: arguments)
        radio.receive(call, now: now)
        drain()
        return call
    }

    @discardableResult
    func adapter(_ member: String, _ arguments: [DBusValue] = [], by sender: String = ":1.1") -> RadioCall {
        call("/org/bluez/hci0", "org.bluez.Adapter1", member, arguments, by: sender)
    }

    @discardableResult
    func device(_ member: String, _ path: String = device, by sender: String = ":1.1") -> RadioCall {
        call(path, "org.bluez.Device1", member, by: sender)
    }

    @discardableResult
    func write(_ value: [UInt8], to path: String = characteristic, _ options: DBusValue = .properties([]))
        -> RadioCall
    {
        call(path, "org.bluez.GattCharacteristic1", "WriteValue", [.bytes(value), options])
    }

    @discardableResult
    func read(
        _ path: String = characteristic, _ options: DBusValue = .properties([]), by sender: String = ":1.1"
    ) -> RadioCall {
        let interface = path.contains("/desc") ? "org.bluez.GattDescriptor1" : "org.bluez.GattCharacteristic1"
        return call(path, interface, "ReadValue", [options], by: sender)
    }

    func advance(_ milliseconds: UInt64) {
        now += milliseconds
        radio.advance(to: now)
        drain()
    }

    /// Scans long enough that every board was seen.
    func discover() {
        adapter("StartDiscovery")
        advance(300)
    }

    /// Found, connected, resolved.
    func connect() {
        discover()
        device("Connect")
        advance(radio.faults.connectDelay)
        advance(radio.faults.resolveDelay)
    }

    /// The rest of the log since the last call.
    func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    // MARK: what came out

    func answer(to call: RadioCall) -> Result<[DBusValue], BlueZError>? {
        for effect in effects {
            switch effect {
            case .reply(let answered, let values) where answered == call: return .success(values)
            case .error(let answered, let error) where answered == call: return .failure(error)
            default: continue
            }
        }
        return nil
    }

    func error(of call: RadioCall) -> String? {
        guard case .failure(let error)? = answer(to: call) else { return nil }
        return "\(error.name): \(error.text)"
    }

    func value(of call: RadioCall) -> DBusValue? {
        guard case .success(let values)? = answer(to: call) else { return nil }
        return values.first
    }

    func isAnswered(_ call: RadioCall) -> Bool { answer(to: call) != nil }

    /// The board ends the write that it was at.
    func finishWrite(_ board: Int = 0, _ outcome: GATTWriteOutcome = .acknowledged) {
        radio.wrote(board, outcome: outcome, now: now)
        drain()
    }

    func senderVanishes(_ sender: String) {
        radio.senderVanished(sender, now: now)
        drain()
    }

    func setServing(_ board: Int, _ isServing: Bool) {
        radio.setServing(board, isServing, now: now)
        drain()
    }

    private func drain() {
        while true {
            let new = radio.takeEffects()
            guard !new.isEmpty else { return }
            for effect in new {
                effects.append(effect)
                perform(effect)
            }
        }
    }

    private func perform(_ effect: RadioEffect) {
        switch effect {
        case .reply(let call, _): log.append("reply \(call.member)")
        case .error(let call, let error): log.append("error \(call.member) \(error.text)")
        case .signal(_, _, "PropertiesChanged", let arguments) where effect.path != nil:
            let changes = (arguments[1].entries ?? []).map { "\($0.key.text ?? "")=\(Self.text($0.value))" }
            let gone = (arguments[2].texts ?? []).map { "\($0)=gone" }
            log.append("changed \(Self.short(effect.path ?? "")) \((changes + gone).joined(separator: " "))")
        case .signal(_, _, let member, let arguments):
            log.append("\(member == "InterfacesAdded" ? "added" : "removed") \(Self.short(arguments[0].text ?? ""))")
        case .linkUp(let board):
            log.append("up")
            values[board] = []
        case .linkDown(let board, let reason):
            log.append("down \(reason)")
            values[board] = nil
        case .write(let board, _, let value):
            let outcome = outcome(board, value)
            if outcome == .acknowledged { values[board] = value }
            if outcome != .later { radio.wrote(board, outcome: outcome, now: now) }
        case .read(let board, _, let offset):
            let value = values[board] ?? []
            radio.didRead(
                board, result: offset <= value.count ? .success(Array(value[offset...])) : .failure(.invalidOffset),
                now: now)
        case .ask(let agent, _, let device, let board, let attempt):
            log.append("ask \(agent) \(Self.short(device))")
            guard let agrees = agentAgrees else { return }
            radio.agentAnswered(board, attempt: attempt, agrees: agrees, now: now)
        case .restart(let index): log.append("restart \(index)")
        case .fault(_, let what): log.append("fault \(what)")
        }
    }

    private static func text(_ value: DBusValue) -> String {
        switch value.unwrapped {
        case .bool(let value): "\(value)"
        case .bytes(let bytes): "\(bytes)"
        case .int16: "n"
        default: value.texts.map { "\($0.count)" } ?? value.text ?? "?"
        }
    }

    private static func short(_ path: String) -> String {
        path.hasPrefix(device) ? "dev" + path.dropFirst(device.count) : path.hasSuffix("hci0") ? "hci0" : path
    }
}

extension RadioEffect {
    fileprivate var path: String? {
        if case .signal(let path, _, _, _) = self { path } else { nil }
    }
}
