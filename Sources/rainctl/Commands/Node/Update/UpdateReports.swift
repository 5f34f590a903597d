// SPDX-License-Identifier: Apache-2.0

/// Tells what a board reports of one update from what it still reports of an earlier one.
///
/// The parameters of the service have no number of an update. Firmware takes none while another is under way, reports `info` before `status`,
/// and has blank texts after a restart; built with rollback it says `success` only when it has restarted (`esp_rmaker_ota.c`,
/// `esp_rmaker_ota_using_params.c`). So an end is this update's where its beginning was seen, or where the board has the image's version.
struct UpdateReports: Sendable {
    typealias State = UpdateService.State

    /// What the board has last said of this update.
    private(set) var said: State?
    /// Whether that is its end.
    private(set) var isOver = false
    /// What it has last said of an update that was under way before this one.
    private(set) var earlier: State?
    /// Whether that one has ended.
    private(set) var earlierIsOver = false
    /// A success of which nothing shows that it is this update's.
    private(set) var doubted: State?
    private(set) var last: State
    /// The version that the board reports.
    private(set) var version: String?

    let image: String
    private let versionBefore: String?
    private var hasBegun = false
    private var hasRestarted = false
    /// The end that stood there before this update.
    private var former: State

    /// - Parameters:
    ///   - before: what the board said right before it was told of this update, with the version that it reported.
    ///   - image: the version of this update.
    init(before: State, version: String?, image: String) {
        (last, former) = (before, before)
        (self.version, versionBefore) = (version, version)
        self.image = image
        if !before.isBlank, !before.isFinal { earlier = before }
    }

    private var isAtEarlier: Bool { earlier != nil && !earlierIsOver }

    /// - Returns: what is new, in words.
    mutating func take(_ state: State, version: String?) -> String? {
        let isNew = state != last
        last = state
        self.version = version
        if state.isBlank {
            if isNew { hasRestarted = true }
            return nil
        }
        guard state.isFinal else {
            guard isNew else { return nil }
            if isAtEarlier, !hasRestarted {
                earlier = state
                return "an earlier update: \(state.words)"
            }
            hasBegun = true
            doubted = nil
            said = state
            return state.words
        }
        return takeEnd(state, isNew: isNew)
    }

    private mutating func takeEnd(_ state: State, isNew: Bool) -> String? {
        let isImage = version == image && versionBefore != image && state.status == "success"
        guard !hasBegun, !isImage else {
            (said, isOver, doubted) = (state, true, nil)
            return state.words
        }
        if isAtEarlier {
            (earlier, earlierIsOver, former) = (state, true, state)
            return "an earlier update: \(state.words)"
        }
        // At its first look it may be the old `status` beside the new `info` of an update that begins.
        guard !isNew, state != former, state != doubted else { return nil }
        if state.status == "success", earlier != nil || version != nil {
            doubted = state
        } else {
            (said, isOver) = (state, true)
        }
        return state.words
    }
}
