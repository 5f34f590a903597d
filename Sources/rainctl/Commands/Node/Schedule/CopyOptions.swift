// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainMaker

/// The options for the copies of a schedule or scene that several boards have.
struct CopyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Store a copy on this board too (repeatable). The board gets the values of the other boards, or the values that you give as BOARD:PATH=VALUE.",
            valueName: "board"))
    var addBoard: [String] = []

    @Option(
        help: ArgumentHelp(
            "Remove the copy from this board (repeatable). NODE must also name this board.",
            valueName: "board"))
    var removeBoard: [String] = []

    @Flag(
        help: "Make all copies equal to the copy that most of these boards have. Boards without a copy get a copy.")
    var repair = false

    @Option(
        help: ArgumentHelp("With --repair, make all copies equal to this board's copy.", valueName: "board"))
    var like: String?

    /// Whether the command is about several boards even if it names one.
    var isForSeveral: Bool { !addBoard.isEmpty || !removeBoard.isEmpty || repair }

    /// Throws a `ValidationError` if `--repair` is combined with another change.
    ///
    /// - Parameter hasOtherChange: whether the command has a new name, time or value.
    func validate(hasOtherChange: Bool) throws {
        guard like == nil || repair || hasOtherChange || !addBoard.isEmpty else {
            throw ValidationError(
                "--like names the board whose copy is right. Give --repair too, to send this copy to the other boards.")
        }
        guard repair, hasOtherChange || !addBoard.isEmpty || !removeBoard.isEmpty else { return }
        throw ValidationError(
            "--repair only makes the copies equal. Of the other options for changes, only --like works with it."
        )
    }

    /// Returns the change for several boards. Values are for the boards that keep the entry.
    func change(
        _ client: RainKitClient, _ nodes: [Node], name: String?, time: ScheduleTime? = nil, _ values: BoardValues
    ) async throws -> EntryGroupChange {
        var change = EntryGroupChange(name: name, time: time)
        for list in addBoard { change.added += try await client.nodes(listed: list) }
        for list in removeBoard { change.removed += try await client.nodes(listed: list) }
        change.model = try await model(client)
        let removed = Set(change.removed.map(\.id))
        change.values = try values.changes(at: nodes.filter { !removed.contains($0.id) } + change.added)
        return change
    }

    /// The node of `--like`; nil without it.
    func model(_ client: RainKitClient) async throws -> NodeID? {
        guard let like else { return nil }
        return try await client.node(named: like).id
    }

    /// Throws if there is nothing to compare.
    func checkRepair(of nodes: [Node], _ noun: String) throws(CommandFailure) {
        guard nodes.count > 1 else {
            throw CommandFailure(
                .usage, message: "--repair compares the copies of several boards: name all boards of the \(noun).")
        }
    }
}
