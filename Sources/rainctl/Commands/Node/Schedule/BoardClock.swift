// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit

/// What a board's clock shows now, by the time zone that is set at it.
struct BoardClock {
    /// For the program that is asked.
    let environment: [String: String]

    /// Nil where the board has no parameter for a zone, or one with a zone that this machine does not know.
    func reading(of node: Node, within limit: Duration) async -> ClockReading? {
        guard let zone = node.timeZone else { return nil }
        if zone.name.isEmpty {
            // Firmware takes the time for UTC then, unless it has the zone in POSIX's form, which is not read here.
            return zone.isElsewhere ? nil : ClockReading(hoursEast: 0)
        }
        return await reading(in: zone.name, within: limit)
    }

    /// By date(1): a zone of another place cannot be asked for in this process, whose threads share one.
    func reading(in zone: String, within limit: Duration) async -> ClockReading? {
        let isName =
            zone.utf8.count <= 64 && zone.first != "/" && !zone.contains("..")
            && zone.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        // date takes a name that it does not know for UTC.
        guard isName, access("/usr/share/zoneinfo/\(zone)", R_OK) == 0 else { return nil }
        let program = ChildProgram(environment: environment.merging(["TZ": ":\(zone)", "LC_ALL": "C"]) { $1 })
        guard let outcome = try? await program.run(["date", "+%Y-%m-%d %H:%M"], within: limit), outcome.isSuccess else {
            return nil
        }
        return ClockReading(String(outcome.output.prefix { !$0.isNewline }))
    }
}

extension Node {
    /// The zone that is set at the board's time service: its name, the path of the parameter, and whether another parameter has a zone; nil
    /// where there is no such parameter.
    var timeZone: (name: String, path: ParameterPath, isElsewhere: Bool)? {
        let services = NodeConfiguration(configuration)?.components.filter { $0.type == "esp.service.time" } ?? []
        guard let service = services.first,
            let zone = service.parameters.first(where: { $0.type == "esp.param.tz" })
        else { return nil }
        let values = parameters?[service.name]
        let posix = service.parameters.first { $0.type == "esp.param.tz_posix" }
        return (
            values?[zone.name]?.string ?? "", ParameterPath(component: service.name, parameter: zone.name),
            posix.flatMap { values?[$0.name]?.string }?.isEmpty == false
        )
    }
}

extension ServiceEntry {
    /// All of them: the apps make schedules with several.
    var triggers: [ScheduleTrigger] { (document["triggers"]?.array ?? []).map { ScheduleTrigger($0) } }
}
