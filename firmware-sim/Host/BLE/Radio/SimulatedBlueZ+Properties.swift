// SPDX-License-Identifier: Apache-2.0
import RainDBus

extension SimulatedBlueZ {
    mutating func receiveProperties(_ call: RadioCall, at object: BlueZPath, now: UInt64) throws(BlueZError) {
        let asked = call.arguments[0].text ?? ""
        guard let (interface, properties) = interface(of: object), asked == interface.rawValue else {
            // The standard interfaces are there, without properties.
            guard interfaces(of: object).contains(where: { $0.rawValue == asked }) else {
                throw .noSuchInterface(asked)
            }
            guard call.member == "GetAll" else { throw .noSuchProperty(call.arguments[1].text ?? "") }
            return reply(call, [.properties([])])
        }
        guard call.member != "GetAll" else { return reply(call, [.properties(properties)]) }
        let name = call.arguments[1].text ?? ""
        guard call.member == "Set" else {
            guard let value = properties.first(where: { $0.0 == name })?.1 else { throw .noSuchProperty(name) }
            return reply(call, [.variant(value)])
        }
        guard let signature = interface.writable[name] else {
            throw properties.contains { $0.0 == name } ? .readOnly(name) : .noSuchProperty(name)
        }
        guard case .variant(let value) = call.arguments[2], value.signature == signature else {
            throw .invalidArguments
        }
        switch object {
        case .adapter: try setAdapter(name, value, now: now)
        case .device(let index): setDevice(index, name, value, now: now)
        default: break
        }
        reply(call)
    }

    private mutating func setAdapter(_ name: String, _ value: DBusValue, now: UInt64) throws(BlueZError) {
        switch (name, value) {
        case ("Powered", .bool(let isOn)):
            if faults.adapter == .rfkill, isOn { throw .blocked }
            return setPowered(isOn, now: now)
        case ("Alias", .string(let alias)): adapter.alias = alias.isEmpty ? "firmware-sim" : alias
        case ("Discoverable", .bool(let isOn)): adapter.isDiscoverable = isOn
        case ("Pairable", .bool(let isOn)): adapter.isPairable = isOn
        case ("DiscoverableTimeout", .uint32(let seconds)): adapter.discoverableTimeout = seconds
        case ("PairableTimeout", .uint32(let seconds)): adapter.pairableTimeout = seconds
        default: return
        }
        changed(.adapter, [(name, adapter.properties.first { $0.0 == name }?.1 ?? value)])
    }

    private mutating func setDevice(_ index: Int, _ name: String, _ value: DBusValue, now: UInt64) {
        switch (name, value) {
        case ("Alias", .string(let alias)): devices[index].alias = alias.isEmpty ? nil : alias
        case ("Trusted", .bool(let isTrusted)): devices[index].isTrusted = isTrusted
        case ("Blocked", .bool(let isBlocked)):
            devices[index].isBlocked = isBlocked
            if isBlocked { dropLink(index, "blocked", now: now) }
        default: return
        }
        let current = devices[index].properties(faults).first { $0.0 == name }?.1 ?? value
        changed(.device(index), [(name, current)])
    }

    private mutating func setPowered(_ isOn: Bool, now: UInt64) {
        guard isOn != adapter.isPowered else { return }
        if !isOn {
            for index in devices.indices { dropLink(index, "adapter off", now: now) }
            if discovery.isActive {
                discovery.stopAll()
                discoveryStopped()
            }
        }
        adapter.isPowered = isOn
        changed(.adapter, [("Powered", .bool(isOn))])
    }
}
