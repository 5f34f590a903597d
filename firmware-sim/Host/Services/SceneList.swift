// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The scenes that a node keeps (`esp_rmaker_scenes.c`).
struct SceneList {
    /// `CONFIG_ESP_RMAKER_SCENES_MAX_SCENES`.
    static let maximum = 10

    private struct Scene {
        var id: String
        var name: String
        var action: JSONValue
        var info: JSONValue?
    }

    private var scenes: [Scene] = []

    /// - Returns: the values of those that are activated.
    mutating func change(_ list: [JSONValue]) -> [JSONValue] {
        var actions: [JSONValue] = []
        for entry in list {
            guard let id = entry["id"]?.string.map({ String($0.prefix(ScheduleList.maximumID)) }), !id.isEmpty else {
                continue
            }
            let index = scenes.firstIndex { $0.id == id }
            switch entry["operation"]?.string {
            case "add" where index == nil, "edit" where index == nil: add(entry, id)
            case "edit": if let index { edit(index, entry) }
            case "remove": scenes.removeAll { $0.id == id }
            case "activate": if let index { actions.append(scenes[index].action) }
            default: continue
            }
        }
        return actions
    }

    private mutating func add(_ entry: JSONValue, _ id: String) {
        guard scenes.count < Self.maximum, let name = entry["name"]?.string, !name.isEmpty else { return }
        scenes.append(Scene(id: id, name: String(name.prefix(ScheduleList.maximumName)), action: .object([])))
        edit(scenes.count - 1, entry)
    }

    private mutating func edit(_ index: Int, _ entry: JSONValue) {
        if let name = entry["name"]?.string, !name.isEmpty {
            scenes[index].name = String(name.prefix(ScheduleList.maximumName))
        }
        if let action = entry["action"], action.members != nil { scenes[index].action = action }
        if let info = entry["info"] { scenes[index].info = info }
    }

    var json: JSONValue {
        .array(
            scenes.map { scene in
                .object(
                    [.init("name", .string(scene.name)), .init("id", .string(scene.id))]
                        + (scene.info.map { [.init("info", $0)] } ?? []) + [.init("action", scene.action)])
            })
    }
}
