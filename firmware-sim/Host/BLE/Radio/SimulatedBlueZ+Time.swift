// SPDX-License-Identifier: Apache-2.0
extension SimulatedBlueZ {
    /// Does what is due until `now`, in the order in which it was due.
    mutating func advance(to now: UInt64) {
        while let (timer, due) = timers.next(until: now) {
            switch timer {
            case .sighting(let index, let scan): if scan == self.scan { sighted(index, now: due) }
            case .forget(let index): forget(index, now: due)
            case .connect(let index, let attempt, let ending):
                if devices[index].attempt == attempt { concludeConnect(index, ending, now: due) }
            case .resolve(let index, let attempt):
                if devices[index].attempt == attempt { resolve(index) }
            case .disconnect(let index, let attempt):
                if devices[index].attempt == attempt { dropLink(index, "disconnected", now: due) }
            case .pair(let index, let attempt):
                if devices[index].attempt == attempt { concludePairing(index) }
            case .breakForKeys(let index, let attempt):
                if devices[index].attempt == attempt { dropLink(index, "no keys", now: due) }
            }
        }
    }
}
