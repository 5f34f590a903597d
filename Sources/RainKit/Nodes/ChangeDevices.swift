// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainIO
import RainJSON
import RainMaker
import Synchronization

/// A change of a node's device that needs no names of parameters. The node's configuration tells which parameter is meant.
public enum DeviceChange: Sendable, Equatable {
    /// Switches the device on or off, by its parameter of type `esp.param.power`.
    case power(Bool)
    /// Switches the device on if it is off, and off if it is on, as it has reported last.
    case toggle
    /// Sets the device's primary parameter.
    case primary(JSONValue)
    /// Sets the device's primary parameter to a value as a person writes it: `on`, `40`, `warm white`.
    case primaryText(String)
}

/// How a change reaches a node.
public enum NodeRoute: Sendable {
    /// Through the cloud.
    case cloud
    /// Over this machine's network, without the cloud.
    case local(LocalNodeOptions)
    /// Over this machine's network. If the node is not reached there, through the cloud.
    case localThenCloud(LocalNodeOptions)
}

/// The outcome of a change at one device.
public struct DeviceOutcome: Sendable {
    /// The node's name, or its id if it has none.
    public var name: String
    /// The parameter that was set, and its new value.
    public var change: ParameterChange
    /// Whether the node was reached without the cloud.
    public var isLocal: Bool
    /// The outcome at the node, which is the same for all devices of the node that were changed together.
    public var parameters: ParameterSetOutcome

    /// The node.
    public var node: NodeID { parameters.node }

    public init(name: String, change: ParameterChange, isLocal: Bool, parameters: ParameterSetOutcome) {
        self.name = name
        self.change = change
        self.isLocal = isLocal
        self.parameters = parameters
    }
}

/// A device of a node.
public struct NodeDevice: Sendable {
    /// The node, as the cloud knows it.
    public var node: Node
    /// The device's name; nil for the node's first device that fits a change.
    public var device: String?

    public init(_ node: Node, device: String? = nil) {
        self.node = node
        self.device = device
    }
}

extension RainKitClient {
    /// Switches lamps, or other devices, on or off.
    ///
    /// ```swift
    /// try await kit.setPower(true, of: ["Kitchen lamp", "Strip/Outlet 2"])
    /// ```
    ///
    /// - Parameters:
    ///   - names: node ids or names of nodes, each perhaps with `/` and the name of a device. Without a device, the change is for the node's
    ///   first device that can be switched.
    ///   - route: how the change reaches the nodes.
    ///   - limit: how long to wait for all nodes together to report the change; nil to return as soon as the cloud has sent it. Over the local
    ///   network, it limits the search for each node (10 s if nil).
    /// - Returns: the outcome at each device, in the order of the names.
    /// - Throws: `RainKitError`: `no_such_node`, `several_nodes`; `no_such_component`, `no_such_parameter` and the other codes of
    ///   `ParameterError`; the cloud's refusals, as ``set(_:to:at:waiting:)`` does.
    @discardableResult
    public func setPower(
        _ isOn: Bool, of names: [String], over route: NodeRoute = .cloud, waiting limit: Duration? = .seconds(10)
    ) async throws -> [DeviceOutcome] {
        try await change(.power(isOn), at: names, over: route, waiting: limit)
    }

    /// Switches each of these devices on if it is off, and off if it is on. Through the cloud, the last report of the node counts.
    ///
    /// The parameters, the result and the errors are those of ``setPower(_:of:over:waiting:)``.
    @discardableResult
    public func toggle(
        _ names: [String], over route: NodeRoute = .cloud, waiting limit: Duration? = .seconds(10)
    ) async throws -> [DeviceOutcome] {
        try await change(.toggle, at: names, over: route, waiting: limit)
    }

    /// Sets the primary parameter of each of these devices, such as the power of a lamp or the speed of a fan.
    ///
    /// The parameters, the result and the errors are those of ``setPower(_:of:over:waiting:)``.
    @discardableResult
    public func setPrimary(
        _ value: JSONValue, of names: [String], over route: NodeRoute = .cloud, waiting limit: Duration? = .seconds(10)
    ) async throws -> [DeviceOutcome] {
        try await change(.primary(value), at: names, over: route, waiting: limit)
    }

    /// Changes devices, as ``setPower(_:of:over:waiting:)`` describes. Over the local network the nodes are changed one after the other, and
    /// the first error ends the call.
    ///
    /// - Parameter offline: called with the names of nodes that the cloud reports as offline, before they are waited for.
    public func change(
        _ change: DeviceChange, at names: [String], over route: NodeRoute = .cloud, waiting limit: Duration?,
        offline: @Sendable ([String]) -> Void = { _ in }
    ) async throws -> [DeviceOutcome] {
        guard names.contains(where: { !$0.isBlank }) else { throw RainKitError.unnamedNode }
        switch route {
        case .cloud: return try await changeByCloud(change, at: try await devices(listed: names), limit, offline)
        case .local(let options):
            var outcomes: [DeviceOutcome] = []
            for name in localNames(names) {
                let attempt = LocalAttempt(change)
                outcomes.append(try await changeLocally(attempt, at: name, options, within: limit ?? .seconds(10)))
            }
            return outcomes
        case .localThenCloud(let options):
            var outcomes: [DeviceOutcome] = []
            for name in localNames(names) {
                outcomes += try await changeLocallyFirst(change, at: name, options, limit, offline)
            }
            return outcomes
        }
    }

    // MARK: Through the cloud

    private func changeByCloud(
        _ change: DeviceChange, at devices: [NodeDevice], _ limit: Duration?,
        _ offline: @Sendable ([String]) -> Void
    ) async throws -> [DeviceOutcome] {
        var targets: [(node: Node, change: ParameterChange)] = []
        for device in devices {
            let wanted = try device.change(change)
            guard !targets.contains(where: { $0.node.id == device.node.id && $0.change == wanted }) else { continue }
            targets.append((device.node, wanted))
        }
        var wanted: [(node: Node, changes: [ParameterChange])] = []
        for (node, change) in targets {
            if let index = wanted.firstIndex(where: { $0.node.id == node.id }) {
                wanted[index].changes.append(change)
            } else {
                wanted.append((node, [change]))
            }
        }
        let away = wanted.filter { $0.node.connectivity?.isConnected == false }.map(\.node.shownName)
        if limit != nil, !away.isEmpty { offline(away) }
        let outcomes = try await set(wanted, waiting: limit)
        return targets.compactMap { node, change in
            outcomes.first { $0.node == node.id }.map {
                DeviceOutcome(name: node.shownName, change: change, isLocal: false, parameters: $0)
            }
        }
    }

    /// Returns the devices of names such as `Kitchen lamp` and `Strip/Outlet 2`, or of a list of them with commas. A name of a node that
    /// itself has a comma or a slash is found, too. The account's list is read once or twice.
    ///
    /// - Throws: `RainKitError`, as ``node(named:)`` does.
    public func devices(listed lists: [String]) async throws -> [NodeDevice] {
        let names = lists.flatMap { $0.split(separator: ",").map { String($0).withoutOuterBlanks } }
        do {
            return try await devices(named: names)
        } catch let error as RainKitError where error.reason == "no_such_node" && names != lists {
            guard let found = try? await devices(named: lists) else { throw error }
            return found
        }
    }

    private func devices(named names: [String]) async throws -> [NodeDevice] {
        guard !names.isEmpty, !names.contains(where: \.isBlank) else { throw RainKitError.unnamedNode }
        let meanings = names.map { DeviceName.meanings(of: $0) }
        let matches = try await matches(of: meanings.flatMap { $0.map(\.node) })
        var start = 0
        var devices: [NodeDevice] = []
        for (name, meanings) in zip(names, meanings) {
            let found = matches[start..<(start + meanings.count)]
            start += meanings.count
            guard let (meaning, match) = zip(meanings, found).first(where: { !$1.isEmpty }) else {
                // This throws: the node does not exist.
                _ = try NodeMatch().only(meanings.count == 2 ? meanings[1].node : name)
                continue
            }
            devices.append(NodeDevice(try match.only(meaning.node), device: meaning.device))
        }
        return devices
    }

    // MARK: Directly to the node

    private func changeLocally(
        _ attempt: LocalAttempt, at text: String, _ options: LocalNodeOptions, within limit: Duration
    ) async throws -> DeviceOutcome {
        let name = localName(text)
        return try await withLocalNode(name.node, options, within: limit) { node in
            let outcome = try await node.set { configuration throws(ParameterError) in
                [try attempt.change(configuration, name.device, node.values)]
            }
            guard let change = attempt.made else { throw RainKitError.cancelled }
            return DeviceOutcome(
                name: node.shownName, change: change, isLocal: true, parameters: outcome)
        }
    }

    /// Tries local control for at most three seconds, or a third of the time.
    private func changeLocallyFirst(
        _ change: DeviceChange, at name: String, _ options: LocalNodeOptions, _ limit: Duration?,
        _ offline: @Sendable ([String]) -> Void
    ) async throws -> [DeviceOutcome] {
        let time = Timekeeper(configuration.tools.timer)
        let attempt = LocalAttempt(change)
        let share = min(.seconds(3), (limit ?? .seconds(9)) / 3)
        let result = await withDeadline(share * 2, sleep: time.sleep) { () async throws(RainKitError) in
            do {
                return try await self.changeLocally(attempt, at: name, options, within: share)
            } catch {
                throw RainKitError(wrapping: error)
            }
        }
        switch result {
        case .success(let outcome)?: return [outcome]
        case .failure(let error)?:
            guard !Task.isCancelled, error.mayBeReachedByCloud else { throw error }
            configuration.logger.debug("local control failed", metadata: ["reason": "\(error.reason)"])
        case nil:
            guard !Task.isCancelled else { throw RainKitError.cancelled }
            configuration.logger.debug("local control took too long")
        }
        // If the node was perhaps switched already, it must not be switched back.
        let wanted = attempt.made.map { DeviceChange.fixed($0, change) } ?? change
        let left = limit.map { max(.seconds(1), $0 - time.elapsed()) }
        return try await changeByCloud(wanted, at: try await devices(listed: [name]), left, offline)
    }

    /// Splits lists of names with commas. A node that is known by a name with a comma is one name.
    private func localNames(_ lists: [String]) -> [String] {
        lists.flatMap { list in
            rememberedNode(named: list) == nil
                ? list.split(separator: ",").map { String($0).withoutOuterBlanks } : [list]
        }
    }

    /// Returns the node id and the device that a text means without the cloud.
    private func localName(_ text: String) -> DeviceName {
        let meanings = DeviceName.meanings(of: text)
        for meaning in meanings {
            guard let id = rememberedNode(named: meaning.node) else { continue }
            return DeviceName(node: id.rawValue, device: meaning.device)
        }
        // Nodes announce their ids, which have no slash.
        return meanings.last ?? DeviceName(node: text)
    }
}

/// The name of a node, and perhaps of one of its devices.
struct DeviceName: Equatable {
    var node: String
    var device: String?

    /// A text with more slashes is not a name.
    private static let maximumSlashes = 4

    /// Returns what a text may mean: a node of that name first, then a node and a device, from the last slash to the first.
    static func meanings(of text: String) -> [DeviceName] {
        let slashes = text.indices.filter { text[$0] == "/" }.suffix(maximumSlashes).reversed()
        let split = slashes.compactMap { slash -> DeviceName? in
            let (node, device) = (String(text[..<slash]), String(text[text.index(after: slash)...]))
            return node.isBlank || device.isBlank ? nil : DeviceName(node: node, device: device)
        }
        return [DeviceName(node: text)] + split
    }
}

/// One change over the local network. It remembers the value that it has chosen, because the node may have it even if no answer came.
private final class LocalAttempt: Sendable {
    private let wanted: DeviceChange
    private let chosen = Mutex<ParameterChange?>(nil)

    init(_ wanted: DeviceChange) { self.wanted = wanted }

    var made: ParameterChange? { chosen.withLock { $0 } }

    func change(
        _ configuration: NodeConfiguration, _ device: String?, _ values: JSONValue
    ) throws(ParameterError) -> ParameterChange {
        let change = try configuration.change(wanted, of: device, reported: values)
        chosen.withLock { $0 = change }
        return change
    }
}

extension DeviceChange {
    /// The same change, with the value that was chosen for it.
    fileprivate static func fixed(_ made: ParameterChange, _ change: DeviceChange) -> DeviceChange {
        guard change == .toggle, let isOn = made.value.bool else { return change }
        return .power(isOn)
    }
}

extension RainKitError {
    /// Whether the cloud may reach the node despite this error of local control. It would refuse the same wrong value, too.
    package var mayBeReachedByCloud: Bool {
        switch cause {
        case .cancelled: false
        case .request(.badData, let reason): reason == "other_node" || reason == "bad_data"
        case .request(.usage, _): false
        default: true
        }
    }
}

extension NodeDevice {
    /// - Throws: `no_configuration` and the codes of `ParameterError`.
    fileprivate func change(_ change: DeviceChange) throws(RainKitError) -> ParameterChange {
        let configuration = try node.described()
        do throws(ParameterError) {
            return try configuration.change(change, of: device, reported: node.parameters)
        } catch {
            throw RainKitError(error, at: node.shownName)
        }
    }
}

extension LocalNode {
    /// The name that the user gave the node, or else its id.
    fileprivate var shownName: String {
        guard let path = configuration?.nameParameter, let name = values[path.component]?[path.parameter]?.string,
            !name.isBlank
        else { return nodeID.rawValue.onOneLine }
        return name.onOneLine
    }
}

extension NodeConfiguration {
    /// Returns the parameter that a change means, with its new value.
    ///
    /// - Parameters:
    ///   - device: a device's name, in capital or small letters; nil for the first device that has such a parameter.
    ///   - values: what the node has reported, for ``DeviceChange/toggle``.
    func change(
        _ change: DeviceChange, of device: String?, reported values: JSONValue?
    ) throws(ParameterError) -> ParameterChange {
        switch change {
        case .power(let isOn):
            return try checked([ParameterChange(try powerPath(of: device), .bool(isOn))])[0]
        case .toggle:
            let path = try powerPath(of: device)
            guard let isOn = values?[path.component]?[path.parameter]?.bool else {
                throw ParameterError(
                    .noSuchParameter,
                    message:
                        "\("\(path)".onOneLine) has not been reported yet, so it cannot be toggled: switch it on or off."
                )
            }
            return try checked([ParameterChange(path, .bool(!isOn))])[0]
        case .primary(let value): return try checked([ParameterChange(try primaryPath(of: device), value)])[0]
        case .primaryText(let text): return try self.change(try primaryPath(of: device), from: text)
        }
    }

    private func powerPath(of device: String?) throws(ParameterError) -> ParameterPath {
        let candidates = try devices(device)
        for candidate in candidates {
            if let power = candidate.powerParameter {
                return ParameterPath(component: candidate.name, parameter: power.name)
            }
        }
        throw ParameterError(
            .noSuchParameter,
            message: "\(Self.subject(candidates)) no switch (a parameter of the type esp.param.power).")
    }

    private func primaryPath(of device: String?) throws(ParameterError) -> ParameterPath {
        let candidates = try devices(device)
        let primaries = candidates.compactMap { candidate in candidate.primaryParameter.map { (candidate, $0) } }
        // A sensor's value cannot be set, so another device is meant.
        guard let (component, parameter) = primaries.first(where: { $0.1.isWritable }) ?? primaries.first else {
            throw ParameterError(
                .noSuchParameter,
                message:
                    "\(Self.subject(candidates)) no primary parameter: set the value by its path, such as Light.Power.")
        }
        return ParameterPath(component: component.name, parameter: parameter.name)
    }

    /// Returns the device of that name, or all devices.
    private func devices(_ name: String?) throws(ParameterError) -> [Component] {
        let devices = components.filter { !$0.isService }
        guard let name else { return devices }
        if let device = devices.first(where: { $0.name == name }) { return [device] }
        let similar = devices.filter { $0.name.lowercased() == name.lowercased() }
        if similar.count == 1 { return similar }
        // This throws, with the names of the devices.
        _ = try parameter(at: ParameterPath(component: name, parameter: ""))
        return []
    }

    private static func subject(_ devices: [Component]) -> String {
        devices.count == 1 ? "The device \(devices[0].name.onOneLine) has" : "The board's devices have"
    }
}
