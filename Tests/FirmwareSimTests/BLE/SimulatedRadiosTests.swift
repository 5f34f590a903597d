// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainDBus
import Testing

@testable import firmware_sim

@Suite("A simulated radio with several adapters")
struct SimulatedRadiosTests {
    private final class Bench {
        var radios: SimulatedRadios
        var now: UInt64 = 1000
        var effects: [RadioEffect] = []
        private var nextID: UInt64 = 0

        init(_ faults: [RadioFaults], boards: Int = 2) {
            radios = SimulatedRadios(
                boards: (0..<boards).map {
                    ("7C:DF:A1:00:00:0\($0)", "PROV_\($0)", GATTApplication(endpoints: RadioHarness.endpoints))
                }, faults: faults, seed: 1)
        }

        static func device(_ board: Int, _ adapter: Int) -> String {
            "/org/bluez/hci\(adapter)/dev_7C_DF_A1_00_00_0\(board)"
        }

        @discardableResult
        func call(_ path: String, _ interface: String, _ member: String) -> RadioCall {
            nextID += 1
            let call = RadioCall(id: nextID, sender: ":1.1", path: path, interface: interface, member: member)
            radios.receive(call, now: now)
            effects += radios.takeEffects()
            return call
        }

        func scan(_ adapter: Int) {
            call("/org/bluez/hci\(adapter)", "org.bluez.Adapter1", "StartDiscovery")
            advance(300)
        }

        @discardableResult
        func connect(_ board: Int, _ adapter: Int) -> RadioCall {
            let call = call(Self.device(board, adapter), "org.bluez.Device1", "Connect")
            advance(600)
            return call
        }

        func advance(_ time: UInt64) {
            now += time
            radios.advance(to: now)
            effects += radios.takeEffects()
        }

        /// The error's text, or `ok`; nil without an answer.
        func answer(to call: RadioCall) -> String? {
            for effect in effects {
                switch effect {
                case .reply(call, _): return "ok"
                case .error(call, let error): return error.text
                default: continue
                }
            }
            return nil
        }

        func objects() -> [String] {
            let call = call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
            for case .reply(call, let values) in effects { return values[0].entries?.compactMap(\.key.text) ?? [] }
            return []
        }
    }

    private static func faults(_ text: String) -> RadioFaults {
        var faults = RadioFaults()
        let isValid = faults.set(text)
        #expect(isValid)
        return faults
    }

    @Test("each adapter has its own object of a board, and all are listed once")
    func tree() {
        let bench = Bench([RadioFaults(), RadioFaults()])
        bench.scan(0)
        bench.scan(1)
        let objects = bench.objects()
        #expect(objects.filter { $0 == "/org/bluez" }.count == 1)
        #expect(objects.count == 1 + 2 + 4)
        #expect(objects.contains(Bench.device(1, 0)) && objects.contains(Bench.device(1, 1)))
    }

    @Test("a board has one link: another adapter does not receive it meanwhile")
    func oneLink() {
        let bench = Bench([RadioFaults(), RadioFaults()])
        bench.scan(0)
        bench.scan(1)
        #expect(bench.answer(to: bench.connect(0, 0)) == "ok")
        #expect(bench.answer(to: bench.connect(0, 1)) == "le-connection-abort-by-local")
        bench.call(Bench.device(0, 0), "org.bluez.Device1", "Disconnect")
        bench.advance(3000)
        #expect(bench.answer(to: bench.connect(0, 1)) == "ok")
    }

    @Test(
        "an adapter without a free slot refuses the next connection",
        arguments: [
            ("slots=1", "le-connection-concurrent-connection-limit"), ("slots-quiet=1", "le-connection-abort-by-local"),
        ])
    func slots(fault: String, answer: String) {
        let faults = Self.faults(fault)
        let bench = Bench([faults, RadioFaults()])
        bench.scan(0)
        bench.scan(1)
        #expect(bench.answer(to: bench.connect(0, 0)) == "ok")
        #expect(bench.answer(to: bench.connect(1, 0)) == answer)
        #expect(bench.answer(to: bench.connect(1, 1)) == "ok")
    }

    @Test(
        "an adapter fails after a number of links, and its board can be connected by the other",
        arguments: RadioFaults.AdapterFailure.allCases)
    func failure(_ kind: RadioFaults.AdapterFailure) {
        let faults = Self.faults("\(kind.rawValue)-after=1")
        let bench = Bench([RadioFaults(), faults])
        bench.scan(0)
        bench.scan(1)
        bench.connect(0, 1)
        #expect(bench.effects.contains(.fault(board: 0, "adapter \(kind.rawValue)")))
        #expect(bench.effects.contains { if case .linkDown(board: 0, _) = $0 { true } else { false } })
        #expect(bench.answer(to: bench.connect(1, 1)) != "ok")
        #expect(bench.objects().contains("/org/bluez/hci1") == (kind != .removed))
        #expect(bench.answer(to: bench.connect(0, 0)) == "ok")
    }

    @Test(
        "faults that do not exist are refused",
        arguments: ["slots=0", "slots", "slots-quiet", "removed-after=0", "broken-after", "lost-after=3"])
    func invalid(_ text: String) {
        var faults = RadioFaults()
        let isValid = faults.set(text)
        #expect(!isValid)
    }
}
