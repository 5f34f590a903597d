// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import RainKit

/// Switches a lamp on when a door opens, for months, as a systemd service. docs/gateway.md explains each part.
@main
struct LampService {
    let service: SystemdService
    let logger: Logger

    static func main() async {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        let service = SystemdService()
        var logger = Logger(label: "lamp-service")
        logger.logLevel = service.setting("LOG_LEVEL").flatMap { Logger.Level($0) } ?? .info
        let program = LampService(service: service, logger: logger)
        do {
            try await service.run { try await program.work() }
            logger.info("ended")
        } catch {
            let error = RainKitError(wrapping: error)
            logger.critical("\(error)", metadata: ["reason": "\(error.reason)", "advice": "\(error.advice)"])
            exit(error.code.rawValue)  // 77 if somebody has to sign in: the unit does not start the service again then.
        }
    }

    func work() async throws {
        let cloud = try service.setting("LAMP_CLOUD").map { try Deployment(name: "cloud", base: $0) } ?? .global
        let kit = try RainKitClient(state: try service.stateDirectory, deployment: cloud, logger: logger)
        try await kit.signInIfNeeded(user: try service.required("LAMP_USER")) { try service.credential("password") }
        service.notify(.ready)
        for try await event in kit.watchAll() {
            if case .alive = event {
                service.notify(.alive)
                continue
            }
            logger.info("\(event)")
            if try isDoorOpened(event) { try await switchOn(try service.required("LAMP_LAMP"), kit) }
        }
    }

    func isDoorOpened(_ event: NodeEvent) throws -> Bool {
        guard case .changed(let change) = event, case .value(let path, true, _) = change.kind else { return false }
        return try "\(change.name ?? ""):\(path)" == service.required("LAMP_WHEN")  // such as Front door:Door.Open
    }

    func switchOn(_ lamp: String, _ kit: RainKitClient) async throws {
        do {
            for outcome in try await kit.setPower(true, of: [lamp], waiting: .seconds(5)) {
                let isOn = outcome.parameters.isReported == true
                logger.info("\(outcome.name) \(isOn ? "is on" : "has not reported that it is on")")
            }
        } catch let error as RainKitError where !error.needsSignIn && error.code != .cancelled {
            logger.warning("the lamp was not switched: \(error)")  // The next opening tries again.
        }
    }
}
