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
            guard busyScans == 0 || discovery.owners.contains(call.sender) else {
                // The kernel did not start scanning: the caller is told so, and forgotten (`start_discovery_complete`).
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

    /// A session ended. With the last one the scan ends, and how loud a device was is no longer known.
    mutating func discoveryStopped() {
        guard !discovery.isActive, adapter.isDiscovering else { return }
        adapter.isDiscovering = false
        for index in sorted where devices[index].rssi != nil {
            devices[index].rssi = nil
            changed(.device(index), [], invalidated: ["RSSI"])
        }
        changed(.adapter, [("Discovering", .bool(false))])
    }

    // MARK: devices that come and go

    /// Makes sure that a board that advertises is reported while a client scans.
    mutating func expectSighting(_ index: Int, now: UInt64) {
        guard adapter.isDiscovering, devices[index].isAdvertising, !devices[index].isSightingDue else { return }
        devices[index].isSightingDue = true
        timers.add(.sighting(index, scan: scan), at: now + 1 + below(Self.firstSighting))
    }

    mutating func sighted(_ index: Int, now: UInt64) {
        devices[index].isSightingDue = false
        guard adapter.isDiscovering, devices[index].isAdvertising else { return }
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

    /// Never the same as before: a client counts a device as seen when something of it changes.
    private mutating func measure(_ index: Int) -> Int16 {
        let level = devices[index].level + Int16(below(13)) - 6
        return level == devices[index].rssi ? level - 1 : level
    }

    mutating func expectForgetting(_ index: Int, now: UInt64) {
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

    /// Takes a device out of the tree with all that was known of it, children first.
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

    /// The board began or ceased to serve: connections to one that ceases are lost.
    mutating func setServing(_ index: Int, _ isServing: Bool, now: UInt64) {
        advance(to: now)
        guard devices[index].isServing != isServing else { return }
        devices[index].isServing = isServing
        if isServing { expectSighting(index, now: now) } else { dropLink(index, "service stopped", now: now) }
    }
}
