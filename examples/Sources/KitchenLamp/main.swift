// SPDX-License-Identifier: Apache-2.0
import ExampleSettings
import RainKit

// Finds a lamp, switches it on, waits until somebody switches it off, adds a schedule, and updates the firmware.
let kit = try RainKitClient(
    state: setting("STATE"), deployment: Deployment(name: "example", base: setting("CLOUD")))
try await kit.signInIfNeeded(user: setting("USER")) { setting("PASSWORD") }
let lamp = try await kit.node(named: "Kitchen lamp")

let outcome = try await kit.set("Light.Power", to: true, at: lamp, waiting: .seconds(10))
print(outcome.isReported == true ? "the lamp is on" : "the lamp has not reported it yet")

print("waiting until somebody switches it off")
try await kit.watch([lamp]) { event in
    guard case .change(let change) = event else { return true }
    print(change)
    if case .value(let path, false, _) = change.kind { return "\(path)" != "Light.Power" }
    return true
}

let evening = try await kit.addSchedule(
    "Evening", values: [try lamp.change("Light.Power", to: true)], time: ScheduleTime(at: "18:30", days: "daily"),
    at: lamp, waiting: .seconds(10))
print("schedule \(evening.id)")

let sent = try await kit.send(FirmwareUpdate(file: setting("IMAGE"), for: lamp))
let update = try await kit.follow(sent, for: .seconds(60)) { print($0) }
print("update: \(update.status)")
