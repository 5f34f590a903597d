// SPDX-License-Identifier: Apache-2.0
import RainDBus

extension SimulatedBlueZ {
    mutating func receiveAdapter(_ call: RadioCall, now: UInt64) throws(BlueZError) {
        switch call.member {
        case "GetDiscoveryFilters":
            let keys = ["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"]
            return reply(call, [.strings(keys)])
        case "RemoveDevice":
            guard let path = call.arguments[0].text, let index = index(ofDevice: path) else { throw .doesNotExist }
            devices[index].hasStaleCache = false
            remove(index, now: now)
            return reply(call)
        default: break
        }
        guard adapter.isPowered else { throw .notReady }
        switch call.member {
        case "SetDiscoveryFilter":
            guard let entries = call.arguments[0].entries, let filter = DiscoverySessions.Filter(entries) else {
                throw .invalidArguments
            }
            discovery.set(filter, of: call.sender)
        case "StartDiscovery":
            guard !isBroken else { throw .broken }
            guard busyScans == 0 || discovery.owners.contains(call.sender) else {
                // The kernel did not start scanning: the caller gets an error, and is forgotten (`start_discovery_complete`).
                busyScans -= 1
                throw .busy
            }
            let wasActive = discovery.isActive
            guard discovery.start(call.sender) else { throw .busy }
            if !wasActive {
                adapter.isDiscovering = true
                changed(.adapter, [("Discovering", .bool(true))])
                scan += 1
                for index in devices.indices {
                    devices[index].isSightingDue = false
                    expectSighting(index, now: now)
                }
            }
        case "StopDiscovery":
            guard discovery.stop(call.sender) else { throw .noDiscovery }
            discoveryStopped()
        default: break
        }
        reply(call)
    }

    /// Handles the end of a session. With the last one the scan ends, and the devices' signal strengths are no longer known.
    mutating func discoveryStopped() {
        guard !discovery.isActive, adapter.isDiscovering else { return }
        adapter.isDiscovering = false
        for index in sorted where devices[index].rssi != nil {
            devices[index].rssi = nil
            changed(.device(index), [], invalidated: ["RSSI"])
        }
        changed(.adapter, [("Discovering", .bool(false))])
    }

    // MARK: Appearing and disappearing devices

    /// Ensures that an advertising board is reported while a client scans.
    mutating func expectSighting(_ index: Int, now: UInt64) {
        guard adapter.isDiscovering, devices[index].isAdvertising, !devices[index].isSightingDue else { return }
        devices[index].isSightingDue = true
        timers.add(.sighting(index, scan: scan), at: now + 1 + below(Self.firstSighting))
    }

    mutating func sighted(_ index: Int, now: UInt64) {
        devices[index].isSightingDue = false
        guard adapter.isDiscovering, devices[index].isAdvertising, !isBroken else { return }
        devices[index].isSightingDue = true
        timers.add(.sighting(index, scan: scan), at: now + sightingPause + below(200))
        let device = devices[index]
        let rssi = measure(index)
        guard !device.isBlocked,
            discovery.accept(
                name: faults.hidesName ? nil : device.name, address: device.address,
                uuids: [device.application.serviceUUID], rssi: rssi)
        else { return }
        devices[index].rssi = rssi
        devices[index].lastSeen = now
        if device.isKnown {
            changed(.device(index), [("RSSI", .int16(rssi))])
        } else {
            devices[index].isKnown = true
            devices[index].isTemporary = true
            added(.device(index))
        }
        expectForgetting(index, now: now)
    }

    /// Never returns the same value twice in a row: clients count a device as seen when one of its properties changes.
    private mutating func measure(_ index: Int) -> Int16 {
        let level = devices[index].level + Int16(below(13)) - 6
        return level == devices[index].rssi ? level - 1 : level
    }

    private mutating func expectForgetting(_ index: Int, now: UInt64) {
        guard devices[index].isTemporary, !devices[index].isForgetTimerSet else { return }
        devices[index].isForgetTimerSet = true
        timers.add(.forget(index), at: devices[index].lastSeen + faults.forgetDelay)
    }

    mutating func forget(_ index: Int, now: UInt64) {
        devices[index].isForgetTimerSet = false
        let device = devices[index]
        guard device.isKnown, device.isTemporary, device.link == .down else { return }
        if device.lastSeen + faults.forgetDelay > now { return expectForgetting(index, now: now) }
        remove(index, now: now)
    }

    /// Removes a device and all its data from the tree, children first.
    mutating func remove(_ index: Int, now: UInt64) {
        dropLink(index, "removed", now: now)
        for attribute in attributes(of: index).reversed() { removed(attribute) }
        removed(.device(index))
        devices[index].isKnown = false
        devices[index].isTemporary = true
        devices[index].rssi = nil
        devices[index].alias = nil
        devices[index].isPaired = false
        devices[index].hasStaleBond = false
        devices[index].isTrusted = false
        devices[index].isBlocked = false
        devices[index].exported = []
        devices[index].lastValues = [:]
        devices[index].lastDescriptions = []
        expectSighting(index, now: now)
    }

    /// Handles that the board starts or stops serving. When it stops, its connections are lost.
    mutating func setServing(_ index: Int, _ isServing: Bool, now: UInt64) {
        advance(to: now)
        guard devices[index].isServing != isServing else { return }
        devices[index].isServing = isServing
        if isServing { expectSighting(index, now: now) } else { dropLink(index, "service stopped", now: now) }
    }
}

/// The connections that look for devices, and their filters.
///
/// A session belongs to a connection on the bus, and ends with it. A filter lasts longer than its session: until its owner replaces it or
/// leaves the bus (`doc/adapter-api.txt`).
struct DiscoverySessions: Sendable {
    fileprivate struct Filter: Sendable, Equatable {
        var uuids: [String] = []
        var rssi: Int16?
        var pattern: String?
        /// False if the filter is for classic Bluetooth only.
        var includesLE = true

        /// Returns nil for keys or types that `SetDiscoveryFilter` does not accept.
        init?(_ entries: [DBusEntry]) {
            var hasPathLoss = false
            for entry in entries {
                guard case .string(let key) = entry.key else { return nil }
                switch (key, entry.value.unwrapped) {
                case ("UUIDs", .array(let elements, "s")):
                    uuids = elements.compactMap(\.text).map { Self.long($0.lowercased()) }
                case ("RSSI", .int16(let level)): rssi = level
                case ("Pathloss", .uint16): hasPathLoss = true
                case ("Transport", .string(let transport)):
                    guard ["auto", "bredr", "le"].contains(transport) else { return nil }
                    includesLE = transport != "bredr"
                case ("Pattern", .string(let text)): pattern = text
                case ("DuplicateData", .bool), ("Discoverable", .bool): break
                default: return nil
                }
            }
            if hasPathLoss, rssi != nil { return nil }
        }

        init() {}

        func accepts(name: String?, address: String, uuids offered: [String], rssi level: Int16) -> Bool {
            guard includesLE else { return false }
            if !uuids.isEmpty, !uuids.contains(where: offered.contains) { return false }
            if let rssi, level < rssi { return false }
            guard let pattern, !pattern.isEmpty else { return true }
            return name?.hasPrefix(pattern) == true || address.hasPrefix(pattern)
        }

        /// Returns the 128-bit form of a 16- or 32-bit UUID.
        private static func long(_ uuid: String) -> String {
            let digits = uuid.hasPrefix("0x") ? String(uuid.dropFirst(2)) : uuid
            guard digits.count == 4 || digits.count == 8 else { return uuid }
            return String(repeating: "0", count: 8 - digits.count) + digits + "-0000-1000-8000-00805f9b34fb"
        }
    }

    private var filters: [String: Filter] = [:]
    private(set) var owners: Set<String> = []

    var isActive: Bool { !owners.isEmpty }

    fileprivate mutating func set(_ filter: Filter, of sender: String) { filters[sender] = filter }

    /// Returns false if that sender already has a session.
    fileprivate mutating func start(_ sender: String) -> Bool { owners.insert(sender).inserted }

    /// Returns false if that sender has no session.
    fileprivate mutating func stop(_ sender: String) -> Bool { owners.remove(sender) != nil }

    mutating func removeSender(_ sender: String) {
        owners.remove(sender)
        filters[sender] = nil
    }

    mutating func stopAll() { owners = [] }

    /// Whether such a device is reported to any of the sessions.
    fileprivate func accept(name: String?, address: String, uuids: [String], rssi: Int16) -> Bool {
        owners.contains { owner in
            filters[owner]?.accepts(name: name, address: address, uuids: uuids, rssi: rssi) ?? true
        }
    }
}

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

    // MARK: Connecting

    private mutating func connect(_ index: Int, _ call: RadioCall, now: UInt64) throws(BlueZError) {
        guard adapter.isPowered else { throw .notReady }
        guard !isBroken else { throw .broken }
        if devices[index].link == .down, let slots = faults.slots, devices.count(where: { $0.link != .down }) >= slots {
            effects.append(.fault(board: index, "slots"))
            throw faults.refusesQuietly ? .connectionAborted : .connectionLimit
        }
        if devices[index].vanishesOnce, devices[index].link == .down {
            // Forgotten since discovery; its next advertisement brings it back.
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
        guard ending == .linked, devices[index].isServing, !devices[index].isElsewhere, !devices[index].isBlocked else {
            if ending != .linked { effects.append(.fault(board: index, "abort")) }
            if ending != .abortedQuietly {
                // If Connected never changes, bleak waits for it until its own limit.
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
        // A link to a board for which BlueZ has keys is encrypted at once.
        guard !devices[index].hasStaleBond else {
            return timers.add(.breakForKeys(index, attempt: attempt), at: now + Self.pairingDelay)
        }
        timers.add(.resolve(index, attempt: attempt), at: now + faults.resolveDelay)
        expectPairing(index, now: now)
        links += 1
        if let failure = faults.failure, links == failure.links { fail(failure.kind, board: index, now: now) }
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
        // After the objects: otherwise a client that reacts to it would find no services.
        changed(.device(index), [("ServicesResolved", .bool(true)), ("UUIDs", devices[index].uuids(faults))])
    }

    // MARK: Disconnecting

    private mutating func disconnect(_ index: Int, _ call: RadioCall, now: UInt64) {
        switch devices[index].link {
        // 5.66 answers with success, although its documentation differs.
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

    /// Ends a link or the attempt to make one, for either side. The attributes stay in the tree.
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
            // protocomm does not bond: the key disappears with the link.
            devices[index].isPaired = false
            properties.append(("Paired", .bool(false)))
        }
        changed(.device(index), properties)
        effects.append(.linkDown(board: index, reason: reason))
        expectSighting(index, now: now)
    }

    // MARK: Pairing (Just Works: the board can neither show nor ask anything)

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

/// A link that must be encrypted before a value is read or written. bluetoothd encrypts it within the operation. The board's refusal raises
/// the link's security, the kernel pairs, and the default agent is asked (`device_confirm_passkey` in src/device.c). If there is no agent,
/// or it refuses, pairing fails and the link breaks.
extension SimulatedBlueZ {
    /// Whether an operation on a device's value has to wait for encryption.
    mutating func mustEncrypt(_ index: Int, now: UInt64) -> Bool {
        guard faults.needsPairing, !devices[index].isPaired else { return false }
        guard !devices[index].isAsking else { return true }
        devices[index].isAsking = true
        guard let sender = defaultAgents.first, let path = agents[sender] else {
            effects.append(.fault(board: index, "no agent"))
            dropLink(index, "not encrypted", now: now)
            return true
        }
        effects.append(
            .ask(
                agent: sender, path: path, device: devices[index].path, board: index, attempt: devices[index].attempt))
        return true
    }

    /// Handles the agent's answer, or its absence if it has left the bus.
    mutating func agentAnswered(_ index: Int, attempt: UInt64, agrees: Bool, now: UInt64) {
        advance(to: now)
        guard devices[index].isAsking, devices[index].attempt == attempt, devices[index].link == .up else { return }
        devices[index].isAsking = false
        guard agrees else { return dropLink(index, "not encrypted", now: now) }
        devices[index].isPaired = true
        changed(.device(index), [("Paired", .bool(true))])
        operate(index, now: now)
    }

    /// Handles a restart of the board: its old object is removed, and its next advertisement brings another.
    mutating func readdress(_ index: Int, now: UInt64) {
        follow(index, now: now)
        effects += [.fault(board: index, "readdress"), .restart(board: index)]
    }

    /// Handles a restart of the board that another adapter was linked to.
    mutating func follow(_ index: Int, now: UInt64) {
        let before = devices[index].path
        remove(index, now: now)
        devices[index].readdress()
        indexes[before] = nil
        indexes[devices[index].path] = index
        let paths = devices.map(\.path)
        sorted = devices.indices.sorted { paths[$0] < paths[$1] }
    }
}
