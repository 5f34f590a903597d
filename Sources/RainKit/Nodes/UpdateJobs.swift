// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// An update of the dashboard that was started for a node, or that is followed.
public struct StartedUpdateJob: Sendable {
    /// The update. A followed one may have only its id.
    public let job: UpdateJob
    /// The node.
    public let node: Node
    /// The job's state right before it was started.
    let before: UpdateJobReport?
    /// Whether this program has started it.
    let isOwn: Bool

    init(_ job: UpdateJob, at node: Node, before: UpdateJobReport?, isOwn: Bool) {
        (self.job, self.node, self.before, self.isOwn) = (job, node, before, isOwn)
    }

    /// An update that somebody else has started, or an earlier run of this program.
    public init(following job: UpdateJob, at node: Node) { self.init(job, at: node, before: nil, isOwn: false) }
}

/// The state of an update of the dashboard when following it ended.
public struct UpdateJobOutcome: Sendable {
    /// The update.
    public let job: UpdateJob
    /// The last report since the update was started; nil before the first one.
    public private(set) var report: UpdateJobReport?
    /// Why the cloud gives no more answers.
    private let fault: AccountError?
    /// Why the last question had no answer.
    private let trouble: String?

    init(_ job: UpdateJob, report: UpdateJobReport?, fault: AccountError? = nil, trouble: String? = nil) {
        (self.job, self.report, self.fault, self.trouble) = (job, report, fault, trouble)
    }

    /// The last state that the cloud had; `sent` if it has had none since the update was started.
    public var state: String { report?.state ?? "sent" }

    /// The error of an update that failed, or was not over in time; nil for a success.
    ///
    /// Its reasons are `update_failed`, `update_rejected` and `deadline`, and those of the cloud's errors.
    public func error(at node: Node) -> RainKitError? {
        let remedies = [Remedy.updateJob(node: node.id.rawValue, job: job.id)]
        if var fault {
            fault.message = fault.message.asSentence + " The update itself continues."
            fault.remedies += remedies
            return RainKitError(fault)
        }
        let info = report?.info.map { " (\($0.onOneLine))" } ?? ""
        switch report {
        case let report? where report.isSuccess: return nil
        case let report? where report.isOver && report.state == "rejected":
            return RainKitError(
                .request(.other, reason: "update_rejected"),
                message: "\(node.shownName) has rejected the image\(info). The cloud does not offer this update again.")
        case let report? where report.isOver:
            return RainKitError(
                .request(.other, reason: "update_failed"),
                message:
                    "The update has failed\(info). The cloud offers the update again when \(node.shownName) next checks for updates."
            )
        case _ where node.connectivity?.isConnected == false:
            let state = report.map { " Its last state is \($0.state.onOneLine)\(info)." } ?? ""
            return late(
                "\(node.shownName) is offline, so the update is not over.\(state) It continues when the board is online.",
                remedies)
        case let report?:
            return late(
                "The update is not over: its last state is \(report.state.onOneLine)\(info). It may still finish.",
                remedies)
        case nil: return late("\(node.shownName) has not begun the update yet. It may still finish.", remedies)
        }
    }

    private func late(_ message: String, _ remedies: [Remedy]) -> RainKitError {
        let unknown = trouble.map { " " + "What happened after that is not known: \($0.onOneLine)".asSentence } ?? ""
        return RainKitError(.request(.deadline, reason: "deadline"), message: message + unknown, remedies: remedies)
    }
}

extension RainKitClient {
    /// Asks whether the deployment's dashboard has an update for a node.
    ///
    /// ```swift
    /// if let job = try await kit.updateOffer(for: lamp).job {
    ///     let started = try await kit.startUpdate(job, at: lamp)
    ///     let outcome = try await kit.follow(started, for: .seconds(300)) { print($0) }
    /// }
    /// ```
    ///
    /// There is no call that declines an update: an update that nobody starts waits.
    public func updateOffer(for node: Node) async throws -> UpdateOffer {
        try await asking { cloud throws(AccountError) in try await cloud.updateOffer(for: node.id) }
    }

    /// Returns the state of an update at a node.
    public func updateReport(of job: String, at node: Node) async throws -> UpdateJobReport {
        try await asking { cloud throws(AccountError) in try await cloud.updateReport(of: job, at: node.id) }
    }

    /// Approves an update. The cloud sends the image's address to the node, which downloads and installs the image.
    ///
    /// Some firmware asks for approval itself (`esp.param.ota_operation`). This call then also has the node check for the update and
    /// start it. It returns once the node has shown the update.
    ///
    /// - Parameters:
    ///   - job: the update; nil for the one that the cloud offers, or that the node itself shows.
    ///   - limit: how long a node that asks for approval itself may take to show the update.
    ///   - report: receives what happens, in order.
    /// - Throws: `RainKitError`: `no_update` if the cloud has no update for the node; the cloud's refusals; `deadline`; `cancelled`.
    public func startUpdate(
        _ job: UpdateJob? = nil, at node: Node, within limit: Duration = .seconds(60),
        report: @escaping @Sendable (FirmwareUpdateEvent) -> Void = { _ in }
    ) async throws -> StartedUpdateJob {
        let approval = BoardApproval(of: node)
        let cloud = try rainMakerNodes()
        var job = job
        if job == nil { job = try await updateOffer(for: node).job }
        guard job != nil || approval != nil else { throw Self.noUpdate(for: node) }
        var before: UpdateJobReport?
        if let job {
            before = try await RainKitError.rethrowing { () async throws(AccountError) -> UpdateJobReport? in
                try await again("Asking the cloud again.", report) {
                    () async throws(AccountError) -> UpdateJobReport? in
                    do throws(AccountError) { return try await cloud.updateReport(of: job.id, at: node.id) } catch {
                        // A job that nobody has started may have no state.
                        guard error.code == .rejected else { throw error }
                        return nil
                    }
                }
            }
            do throws(AccountError) {
                // A node ignores the address of an update while it installs one.
                try await again("Sending the request again.", report) { () async throws(AccountError) in
                    try await cloud.startUpdate(job.id, at: node.id)
                }
            } catch {
                guard Task.isCancelled else { throw RainKitError(error) }
                throw RainKitError(
                    .cancelled, message: "Cancelled: the cloud may have started the update already.",
                    remedies: [.updateJob(node: node.id.rawValue, job: job.id)])
            }
            report(.sent(isOffline: node.isOffline))
        }
        guard let approval else {
            guard let job else { throw Self.noUpdate(for: node) }
            return StartedUpdateJob(job, at: node, before: before, isOwn: true)
        }
        let shown = try await approve(job, at: node, approval, within: limit, report)
        return StartedUpdateJob(shown, at: node, before: before, isOwn: true)
    }

    /// Follows an update until it is over or the time limit is reached.
    ///
    /// - Returns: the outcome. Its ``UpdateJobOutcome/error(at:)`` is nil for a success.
    /// - Throws: `RainKitError`, `cancelled`: the update itself goes on.
    public func follow(
        _ started: StartedUpdateJob, for limit: Duration,
        report: @escaping @Sendable (FirmwareUpdateEvent) -> Void = { _ in }
    ) async throws -> UpdateJobOutcome {
        let (job, node) = (started.job, started.node.id)
        do throws(AccountError) {
            let cloud = try self.cloud()
            let time = Timekeeper(configuration.tools.timer)
            var reports = UpdateJobReports(before: started.before)
            let ending = try await CloudQuestion(time: time).askAgain(
                until: time.elapsed() + limit, PollSchedule(from: .milliseconds(250), to: .seconds(4))
            ) { () async throws(AccountError) -> UpdateJobReport? in
                do throws(AccountError) { return try await cloud.updateReport(of: job.id, at: node) } catch {
                    // Right after its start the job may have no state yet.
                    guard started.isOwn, error.code == .rejected else { throw error }
                    return nil
                }
            } take: { known in
                guard let news = known.flatMap({ reports.take($0) }) else { return .quiet }
                report(.news(news))
                return reports.isOver ? .done : .news
            }
            switch ending {
            case .done: return UpdateJobOutcome(job, report: reports.last)
            case .late(let fault): return UpdateJobOutcome(job, report: reports.last, trouble: fault?.message)
            case .refused(let error): return UpdateJobOutcome(job, report: reports.last, fault: error)
            }
        } catch {
            guard error.code == .cancelled else { throw RainKitError(error) }
            throw RainKitError(
                .cancelled, message: "Cancelled: the update itself continues.",
                remedies: [.updateJob(node: node.rawValue, job: job.id)])
        }
    }

    // MARK: Approval at the node

    /// Has the node show the update and start it. Returns the update that it shows.
    private func approve(
        _ job: UpdateJob?, at node: Node, _ approval: BoardApproval, within limit: Duration,
        _ report: @escaping @Sendable (FirmwareUpdateEvent) -> Void
    ) async throws -> UpdateJob {
        let cloud = try rainMakerNodes()
        func tell(_ operation: String) async throws {
            try await RainKitError.rethrowing { () async throws(AccountError) in
                try await again("Sending the request again.", report) { () async throws(AccountError) in
                    try await cloud.set([ParameterChange(approval.operation, .string(operation))], at: node.id)
                }
            }
        }
        try await tell("check")
        report(.news("\(node.shownName) checks for the update"))
        let time = Timekeeper(configuration.tools.timer)
        var shown: UpdateJob?
        let ending = try await RainKitError.rethrowing { () async throws(AccountError) in
            try await CloudQuestion(time: time).askAgain(until: time.elapsed() + limit, .nodeStatus) {
                () async throws(AccountError) in
                try await cloud.node(node.id)
            } take: { known in
                shown = approval.job(shownBy: known, wanted: job)
                return shown == nil ? .quiet : .done
            }
        }
        guard let shown else {
            if case .refused(let error) = ending { throw RainKitError(error) }
            guard let job else { throw Self.noUpdate(for: node) }
            throw RainKitError(
                .request(.deadline, reason: "deadline"),
                message:
                    "\(node.shownName) installs an update only after an approval, but has not reported yet that this update waits for approval.",
                remedies: [.updateJob(node: node.id.rawValue, job: job.id)])
        }
        try await tell("start")
        report(.news("the update is approved on \(node.shownName)"))
        return shown
    }

    private static func noUpdate(for node: Node) -> RainKitError {
        RainKitError(
            .request(.other, reason: "no_update"),
            message:
                "The cloud has no update for \(node.shownName). Create an update in the deployment's dashboard first.")
    }
}

/// The parameters of firmware that asks its user for approval itself: the service `esp.service.ota` with an operation.
struct BoardApproval: Sendable {
    /// Takes `check` and `start`.
    let operation: ParameterPath
    private let info: ParameterPath?

    /// Returns nil for firmware that does not ask.
    init?(of node: Node) {
        let services = NodeConfiguration(node.configuration)?.components ?? []
        guard let service = services.first(where: { $0.type == "esp.service.ota" }) else { return nil }
        func path(_ type: String) -> ParameterPath? {
            service.parameters.first { $0.type == type }.map {
                ParameterPath(component: service.name, parameter: $0.name)
            }
        }
        guard let operation = path("esp.param.ota_operation") else { return nil }
        self.operation = operation
        info = path("esp.param.ota_info")
    }

    /// What the node shows of an update; nil if nothing. Its members are not documented.
    func shown(by node: Node) -> JSONValue? {
        let value = info.flatMap { node.parameters?[$0.component]?[$0.parameter] }
        return value?.members?.isEmpty == false ? value : nil
    }

    /// Returns the update that the node shows; nil if it shows none, or another one.
    func job(shownBy node: Node, wanted: UpdateJob?) -> UpdateJob? {
        guard let shown = shown(by: node) else { return nil }
        guard let id = shown["ota_job_id"]?.string, !id.isEmpty else { return wanted }
        if let wanted { return wanted.id == id ? wanted : nil }
        return UpdateJob(id: id, version: shown["fw_version"]?.string)
    }
}

/// Distinguishes the reports since an update was started from the state before it.
struct UpdateJobReports: Sendable {
    /// The last report since the start.
    private(set) var last: UpdateJobReport?
    /// The end of an earlier attempt, which the cloud has until the node reports again.
    private let former: UpdateJobReport?

    /// - Parameter before: the state right before the start.
    init(before: UpdateJobReport?) { former = before.flatMap { $0.isOver ? $0 : nil } }

    /// Whether the update is over.
    var isOver: Bool { last?.isOver ?? false }

    /// - Returns: the news as a text for people; nil without news.
    mutating func take(_ report: UpdateJobReport) -> String? {
        if last == nil, report == former { return nil }
        let isNew = report != last
        last = report
        return isNew ? [report.state, report.info].compactMap { $0 }.joined(separator: ": ").onOneLine : nil
    }
}
