// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RainDBus

@Suite("Calls that were not answered yet")
struct UnansweredCallsTests {
    private func call(_ serial: Int, from sender: String = ":1.1") -> DBusMessage {
        DBusMessage(kind: .call, serial: UInt64(serial), sender: sender)
    }

    @Test("each is handed out once, to the answer of its own caller")
    func once() {
        var calls = UnansweredCalls<String>()
        #expect(calls.keep("a", of: call(1)) == nil)
        #expect(calls.keep("b", of: call(1, from: ":1.2")) == nil)
        #expect(calls.take(call(2)) == nil)
        #expect(calls.take(call(1, from: ":1.2")) == "b")
        #expect(calls.take(call(1, from: ":1.2")) == nil)
        #expect(calls.take(call(1)) == "a")
        #expect(calls.takeAll().isEmpty)
    }

    @Test("a number that is used again falls out for the later call")
    func again() {
        var calls = UnansweredCalls<String>(limit: 1)
        #expect(calls.keep("early", of: call(1)) == nil)
        #expect(calls.keep("late", of: call(1)) == "early")
        #expect(calls.take(call(1)) == "late")
    }

    @Test("beyond the limit the oldest falls out that is still there, and nothing is lost or handed out twice")
    func limit() {
        var calls = UnansweredCalls<Int>(limit: 10)
        var there: [Int] = []
        for number in 0..<5000 {
            // Two calls come for each answer, so that it overflows; answers come in any order.
            there.append(number)
            let dropped = calls.keep(number, of: call(number))
            #expect(dropped == (there.count > 10 ? there.removeFirst() : nil))
            guard number.isMultiple(of: 2) else { continue }
            let answered = there.remove(at: number * 7919 % there.count)
            #expect(calls.take(call(answered)) == answered)
            #expect(calls.take(call(answered)) == nil)
        }
        #expect(calls.takeAll().sorted() == there)
        #expect(calls.takeAll().isEmpty)
    }
}
