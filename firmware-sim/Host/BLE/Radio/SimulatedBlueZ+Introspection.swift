// SPDX-License-Identifier: Apache-2.0
import RainDBus

extension SimulatedBlueZ {
    /// The XML by which busctl and people find their way through the tree.
    func introspection(of object: BlueZPath) -> String {
        var lines = [
            "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"",
            "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">", "<node>",
        ]
        for interface in interfaces(of: object) {
            lines.append("<interface name=\"\(interface.rawValue)\">")
            lines += interface.methods.flatMap(Self.xml)
            lines += Self.signals(of: interface)
            if let (own, properties) = self.interface(of: object), own == interface {
                for (name, value) in properties {
                    let access = interface.writable[name] == nil ? "read" : "readwrite"
                    lines.append("<property name=\"\(name)\" type=\"\(value.signature)\" access=\"\(access)\"/>")
                }
            }
            lines.append("</interface>")
        }
        lines += children(of: object).map { "<node name=\"\($0)\"/>" }
        return (lines + ["</node>"]).joined(separator: "\n")
    }

    private static func xml(_ method: BlueZInterface.Method) -> [String] {
        ["<method name=\"\(method.name)\">"] + method.takes.map { "<arg type=\"\($0)\" direction=\"in\"/>" }
            + method.gives.map { "<arg type=\"\($0)\" direction=\"out\"/>" } + ["</method>"]
    }

    private static func signals(of interface: BlueZInterface) -> [String] {
        let signals: [(String, [String])]
        switch interface {
        case .objectManager: signals = [("InterfacesAdded", ["o", "a{sa{sv}}"]), ("InterfacesRemoved", ["o", "as"])]
        case .properties: signals = [("PropertiesChanged", ["s", "a{sv}", "as"])]
        default: signals = []
        }
        return signals.flatMap { name, types in
            ["<signal name=\"\(name)\">"] + types.map { "<arg type=\"\($0)\"/>" } + ["</signal>"]
        }
    }

    private func children(of object: BlueZPath) -> [String] {
        switch object {
        case .root: return ["org"]
        case .organisation: return ["bluez"]
        case .bluez: return faults.adapter == .absent ? [] : ["hci0"]
        case .adapter: return sorted.filter { devices[$0].isKnown }.map { last(devices[$0].path) }
        case .device(let index): return devices[index].exported.isEmpty ? [] : [last(devices[index].servicePath)]
        case .service(let index): return devices[index].exported.map { last(devices[index].characteristicPath($0)) }
        case .characteristic(let index, let characteristic):
            return [last(devices[index].descriptorPath(characteristic))]
        case .descriptor: return []
        }
    }

    private func last(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
}
