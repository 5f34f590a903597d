// SPDX-License-Identifier: Apache-2.0
import RainDBus

extension SimulatedBlueZ {
    mutating func receiveDevice(_ call: RadioCall, _ index: Int, now: UInt64) throws(BlueZError) {
        switch call.member {
        case "Connect": try connect(index, call, now: now)
        case "Disconnect": disconnect(index, call, now: now)
        case "Pair": try pair(index, call, now: now)
        default:
            guard let pairing = devices[index].pairing else { throw .doesNotExist }
            devices[index].pairing = nil
            fail(pairing, .authenticationFailed)
            reply(call)
        }
    }

    // MARK: connecting

    private mutating func connect(_ index: Int, _ call: RadioCall, now: UInt64) throws(BlueZError) {
        guard adapter.isPowered else { throw .notReady }
        if devices[index].vanishesOnce, devices[index].link == .down {
            // Forgotten between discovery and now; its next advertisement brings it back.
            devices[index].vanishesOnce = false
            effects.append(.fault(board: index, "stale"))
            let path = devices[index].path
            remove(index, now: now)
            throw .unknownObject(path)
        }
        switch devices[index].link {
        // Another client may have connected; two clients share a link.
        case .up: reply(call)
        case .connecting, .closing: throw .connectionAborted
        case .down: begin(index, call, now: now)
        }
    }

    private mutating func begin(_ index: Int, _ call: RadioCall?, now: UInt64) {
        let isAborted = Self.chance(faults.abort, &random)
        let isAbortedQuietly = Self.chance(faults.quietAbort, &random)
        devices[index].link = .connecting(call)
        devices[index].attempt += 1
        timers.add(
            .connect(
                index, attempt: devices[index].attempt,
                isAborted ? .aborted : isAbortedQuietly ? .abortedQuietly : .linked), at: now + faults.connectDelay)
    }

    mutating func concludeConnect(_ index: Int, _ ending: Ending, now: UInt64) {
        guard case .connecting(let call) = devices[index].link else { return }
        guard ending == .linked, devices[index].isServing, !devices[index].isBlocked else {
            if ending != .linked { effects.append(.fault(board: index, "abort")) }
            if ending != .abortedQuietly {
                // Where Connected never changes, bleak waits for that until its own time is over.
                changed(.device(index), [("Connected", .bool(true))])
                changed(.device(index), [("Connected", .bool(false))])
            }
            return failConnect(index, call, now: now)
        }
        devices[index].link = .up
        devices[index].isTemporary = false
        devices[index].loss = drawLoss()
        effects.append(.linkUp(board: index))
        changed(.device(index), [("Connected", .bool(true))])
        // The reply comes when there is a channel, before the services are known.
        reply(call)
        let attempt = devices[index].attempt
        // A link to a board that BlueZ has keys for is encrypted at once.
        guard !devices[index].hasStaleBond else {
            return timers.add(.breakForKeys(index, attempt: attempt), at: now + Self.pairingDelay)
        }
        timers.add(.resolve(index, attempt: attempt), at: now + faults.resolveDelay)
        expectPairing(index, now: now)
    }

    private mutating func failConnect(_ index: Int, _ call: RadioCall?, now: UInt64) {
        devices[index].link = .down
        fail(call, .connectionAborted)
        failPairing(index)
        devices[index].lastSeen = max(devices[index].lastSeen, now)
        expectForgetting(index, now: now)
    }

    private mutating func drawLoss() -> LinkLoss? {
        let isLost = Self.chance(faults.lose, &random)
        let writes = 1 + Int(below(9))
        let moment = LinkLoss.Moment.allCases[Int(below(3))]
        return isLost && lossesLeft != 0 ? LinkLoss(writes: writes, moment: moment) : nil
    }

    mutating func resolve(_ index: Int) {
        guard devices[index].link == .up, !devices[index].isResolved else { return }
        if devices[index].exported.isEmpty {
            devices[index].exported = devices[index].remembered
            for attribute in attributes(of: index) { added(attribute) }
        }
        devices[index].isResolved = true
        // After the objects: a client that heard of it before would find no services.
        changed(.device(index), [("ServicesResolved", .bool(true)), ("UUIDs", devices[index].uuids(faults))])
    }

    // MARK: disconnecting

    private mutating func disconnect(_ index: Int, _ call: RadioCall, now: UInt64) {
        switch devices[index].link {
        // 5.66 answers with success, whatever its documentation says.
        case .down: reply(call)
        case .connecting(let waiting):
            devices[index].link = .down
            devices[index].attempt += 1
            fail(waiting, .connectionAborted)
            failPairing(index)
            expectForgetting(index, now: now)
            reply(call)
        case .closing(let calls): devices[index].link = .closing(calls + [call])
        case .up:
            devices[index].link = .closing([call])
            failOperations(index, .notConnected)
            unresolve(index)
            timers.add(.disconnect(index, attempt: devices[index].attempt), at: now + faults.disconnectDelay)
        }
    }

    private mutating func unresolve(_ index: Int) {
        guard devices[index].isResolved else { return }
        devices[index].isResolved = false
        changed(.device(index), [("ServicesResolved", .bool(false))])
    }

    /// Ends a link or the attempt to make one, on behalf of either side. The attributes stay in the tree.
    mutating func dropLink(_ index: Int, _ reason: String, now: UInt64) {
        let device = devices[index]
        switch device.link {
        case .down: return
        case .connecting(let call):
            devices[index].attempt += 1
            return failConnect(index, call, now: now)
        case .up, .closing: break
        }
        failOperations(index, .notConnected)
        unresolve(index)
        devices[index].attempt += 1
        devices[index].link = .down
        devices[index].loss = nil
        devices[index].isAsking = false
        if case .closing(let calls) = device.link { for call in calls { reply(call) } }
        failPairing(index)
        var properties: Properties = [("Connected", .bool(false))]
        if device.isPaired, !device.hasStaleBond {
            // protocomm does not bond: the key is gone with the link.
            devices[index].isPaired = false
            properties.append(("Paired", .bool(false)))
        }
        changed(.device(index), properties)
        effects.append(.linkDown(board: index, reason: reason))
        expectSighting(index, now: now)
    }

    // MARK: pairing (Just Works: the board can neither show nor ask anything)

    private mutating func pair(_ index: Int, _ call: RadioCall, now: UInt64) throws(BlueZError) {
        guard adapter.isPowered else { throw .notReady }
        guard !devices[index].isPaired else { throw .alreadyExists }
        guard devices[index].pairing == nil else { throw .inProgress }
        // The caller's own agent, or that of a desktop.
        guard !agents.isEmpty else { throw .authenticationFailed }
        devices[index].pairing = call
        switch devices[index].link {
        case .up: expectPairing(index, now: now)
        case .connecting: break
        case .down: begin(index, nil, now: now)
        case .closing: failPairing(index)
        }
    }

    private mutating func expectPairing(_ index: Int, now: UInt64) {
        guard devices[index].pairing != nil else { return }
        timers.add(.pair(index, attempt: devices[index].attempt), at: now + Self.pairingDelay)
    }

    mutating func concludePairing(_ index: Int) {
        guard devices[index].link == .up, let call = devices[index].pairing else { return }
        devices[index].pairing = nil
        devices[index].isPaired = true
        changed(.device(index), [("Paired", .bool(true))])
        reply(call)
    }

    private mutating func failPairing(_ index: Int) {
        guard let call = devices[index].pairing else { return }
        devices[index].pairing = nil
        fail(call, .authenticationFailed)
    }
}
