// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// How Espressif's phone apps recognise that the schedules or scenes of several nodes are one entry. They keep a table of entries by a key,
/// which they make of each node's report.
public enum PhoneApp: String, Sendable, CaseIterable {
    /// esp-rainmaker-android 3.14.1: `id_name_enabled_days_mins`, and `id_name_info` for scenes.
    case android
    /// esp-rainmaker-ios (ESPScheduler.swift, ESPSceneManager.swift): `id.name.days.minutes.enabled`, and `id.name.info` for scenes.
    case iOS
    /// esp-rainmaker-home: the id.
    case home

    /// The key of an entry as a node has reported it.
    public func key(_ entry: JSONValue) -> String {
        let (id, name) = (entry["id"]?.string ?? "", entry["name"]?.string ?? "")
        // These apps read the first trigger, and take a missing number for 0.
        let trigger = entry["triggers"]?.array?.first
        let (days, minutes) = (trigger?["d"]?.integer ?? 0, trigger?["m"]?.integer ?? 0)
        let isEnabled = entry["enabled"]?.bool ?? false
        switch self {
        case .android where trigger == nil: return "\(id)_\(name)_\(entry["info"]?.string ?? "")"
        case .android: return "\(id)_\(name)_\(isEnabled)_\(days)_\(minutes)"
        case .iOS where trigger == nil: return "\(id).\(name).\(entry["info"]?.string ?? "")"
        case .iOS: return "\(id).\(name).\(days).\(minutes).\(isEnabled)"
        case .home: return id
        }
    }

    /// An id as the app makes it.
    public var newID: String {
        switch self {
        case .android: "Z0K9"
        case .iOS: "x_7A"
        case .home: "XQXB"
        }
    }

    /// The element that the app sends to each node for a new schedule. The order of its members is the app's.
    public func newSchedule(_ name: String, minutes: Int64, days: Int64, action: JSONValue) -> JSONValue {
        let trigger: JSONValue =
            self == .iOS
            ? ["d": .integer(days), "m": .integer(minutes)] : ["m": .integer(minutes), "d": .integer(days)]
        switch self {
        case .android:
            return [
                "id": .string(newID), "operation": "add", "name": .string(name), "triggers": [trigger],
                "action": action,
            ]
        case .iOS:
            return [
                "name": .string(name), "id": .string(newID), "operation": "add", "triggers": [trigger],
                "action": action,
            ]
        case .home:
            return [
                "id": .string(newID), "operation": "add", "name": .string(name), "action": action, "info": "",
                "triggers": [trigger], "flags": 0,
            ]
        }
    }
}
