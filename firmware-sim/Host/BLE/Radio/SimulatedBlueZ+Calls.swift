// SPDX-License-Identifier: Apache-2.0
import RainDBus

extension SimulatedBlueZ {
    /// A method call came in. It is answered now or later, once.
    mutating func receive(_ call: RadioCall, now: UInt64) {
        advance(to: now)
        do throws(BlueZError) { try dispatch(call, now: now) } catch { fail(call, error) }
    }

    /// A connection left the bus: its sessions, filters and agents end. Links belong to no connection, and stay.
    mutating func senderVanished(_ sender: String, now: UInt64) {
        advance(to: now)
        agents[sender] = nil
        defaultAgents.removeAll { $0 == sender }
        let wasActive = discovery.isActive
        discovery.removeSender(sender)
        if wasActive { discoveryStopped() }
    }

    private mutating func dispatch(_ call: RadioCall, now: UInt64) throws(BlueZError) {
        guard let object = object(at: call.path) else { throw .unknownObject(call.path) }
        switch try interface(of: call, at: object) {
        case .introspectable: reply(call, [.string(introspection(of: object))])
        case .objectManager: reply(call, [managedObjects()])
        case .properties: try receiveProperties(call, at: object, now: now)
        case .agentManager: try receiveAgent(call)
        case .adapter: try receiveAdapter(call, now: now)
        case .device: if case .device(let index) = object { try receiveDevice(call, index, now: now) }
        case .service: throw .unknownMethod(call)
        case .characteristic, .descriptor: try receiveAttribute(call, at: object, now: now)
        }
    }

    /// The interface that is meant, if the object has it and the method takes such arguments.
    private func interface(of call: RadioCall, at object: BlueZPath) throws(BlueZError) -> BlueZInterface {
        let found = interfaces(of: object).first { interface in
            guard call.interface == nil || call.interface == interface.rawValue else { return false }
            return interface.methods.contains { $0.name == call.member && $0.takes.joined() == call.signature }
        }
        guard let found else { throw .unknownMethod(call) }
        return found
    }

    func interfaces(of object: BlueZPath) -> [BlueZInterface] {
        var interfaces: [BlueZInterface] = [.introspectable]
        if object == .root { interfaces.append(.objectManager) }
        if let own = interface(of: object)?.0 { interfaces += [own, .properties] }
        return interfaces
    }

    /// Sorted by path, so that parents come first.
    private func managedObjects() -> DBusValue {
        .dictionary(
            objects.map { DBusEntry(.objectPath(path(of: $0)), managed($0)) }, key: "o", value: "a{sa{sv}}")
    }

    private mutating func receiveAgent(_ call: RadioCall) throws(BlueZError) {
        switch call.member {
        case "RegisterAgent":
            let known = ["", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay"]
            guard let path = call.arguments[0].text, let capability = call.arguments[1].text, known.contains(capability)
            else { throw .invalidArguments }
            guard agents[call.sender] == nil else { throw .alreadyExists }
            agents[call.sender] = path
            if defaultAgents.isEmpty { defaultAgents = [call.sender] }
        case "UnregisterAgent":
            guard let path = agents[call.sender], path == call.arguments[0].text else { throw .doesNotExist }
            agents[call.sender] = nil
            defaultAgents.removeAll { $0 == call.sender }
        default:
            guard let path = agents[call.sender], path == call.arguments[0].text else { throw .doesNotExist }
            defaultAgents.removeAll { $0 == call.sender }
            defaultAgents.insert(call.sender, at: 0)
        }
        reply(call)
    }
}
