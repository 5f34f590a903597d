// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainCore
import RainKit
import Synchronization

/// The board that the options name, and how to open it.
struct BoardTarget {
    let address: BoardAddress
    /// The board's name on its label, if known.
    let label: String?
    /// The name under which a search found the board; nil if it was not searched for, or has no name.
    private(set) var foundName: String?
    private let kit: RainKitClient
    private let transport: any BoardTransport
    private var credentials: BoardCredentials
    private let waits: Bool
    private let screen: Screen

    /// The live line while no board has been found.
    private static let waitingForBoard = "Waiting for a board: plug it in with a USB cable"

    init(_ options: DeviceOptions, _ context: Context, _ kit: RainKitClient, within time: TimeBudget) async throws {
        let code = try Self.qrCode(options, context, within: time)
        if let code, let name = options.deviceName, Self.contradicts(name, code) {
            throw CommandFailure(
                .usage,
                message:
                    "The QR code is for \(code.name.onOneLine), but --device-name is \(name.onOneLine). Use the QR code of the board that "
                    + "you want, or omit --device-name.")
        }
        credentials = try BoardCredentials(options, code, context, within: time)
        label = options.deviceName ?? code?.name
        self.kit = kit
        waits = options.wait
        screen = context.screen
        if options.transport.scheme == nil, options.place.isEmpty, code?.transport == nil, code?.name == nil {
            let names = Mutex<[BoardAddress: String]>([:])
            let found = try await Self.search(kit, context, waits: options.wait, within: time) { board in
                names.withLock { $0[board.address] = board.name }
            }
            foundName = names.withLock { $0[found] }
            address = found
        } else {
            address = try kit.address(
                for: BoardHint(scheme: options.transport.scheme, options: options.place, code: code))
        }
        if address.scheme == "serial", context.mayAsk, !credentials.hasProofOfPossession, code?.proofOfPossession == nil
        {
            let question = ProofQuestion(screen: context.screen, isOnCable: true)
            credentials.proofOfPossession = { await question.ask() }
        }
        transport = try kit.transport(for: address)
    }

    /// Whether reaching the board takes this machine off its own network.
    var leavesNetwork: Bool { transport.leavesNetwork }

    /// Whether this machine joins the board's own network, or waits for its user to do so.
    var joinsBoardNetwork: Bool { transport.leavesNetwork && address.location == nil }

    /// Whether the board has refused a proof of possession in this command.
    var isAnotherAttempt: Bool { credentials.refusedBefore > 0 }

    /// Whether waiting makes sense, because the user may still be joining the board's network.
    var mayAppearLater: Bool { transport.mayAppearLater(address) && StandardStreams.errIsTerminal }

    /// Finds the board without sending it anything. Problems with this machine's Bluetooth are reported at once.
    func locate(within time: TimeBudget, followsLog: Bool = true) async throws -> UnopenedBoard {
        let search = { () async throws -> UnopenedBoard in
            try await time.run(unfinished: "the board has not been found yet") {
                try await kit.locate(
                    address, with: credentials, within: time.left, waitsForBoard: waits,
                    waitsForPerson: StandardStreams.errIsTerminal, followsLog: followsLog)
            }
        }
        let what =
            address.scheme == "serial" ? Self.waitingForBoard : "Looking for the board \(address.scheme.wayToBoard)"
        return try await screen.waiting(what, upTo: waits ? time.left : nil, search)
    }

    /// Does the work. If the board refuses the proof of possession, the user is asked for another one, up to three times in all. Boards
    /// stop after five wrong proofs. The first attempt with Security 2 counts as two, and each later one as one: that makes four.
    func askingForProofAgain<Value: Sendable>(
        _ context: Context, within time: TimeBudget, _ work: (BoardTarget) async throws -> Value
    ) async throws -> Value {
        var target = self
        var attempt = 1
        while true {
            do {
                return try await work(target)
            } catch {
                guard context.mayAsk, let cause = Self.wrongProof(error) else { throw error }
                let refused = max(cause.refusedProofs, target.credentials.refusedBefore + 1)
                guard attempt < Self.maximumProofs, refused < Self.maximumRefusals else { throw error }
                // A board on its network does not count wrong proofs.
                let count =
                    cause.refusedProofs == 0
                    ? ""
                    : " \(BoardError.countOfWrongProofs(refused))"
                context.screen.say(attempt == 1 ? cause.message : "The board refused this proof too.\(count)")
                attempt += 1
                target.credentials.refusedBefore = refused
                let answer = await time.askingOnScreen {
                    await context.screen.asking {
                        while let secret = await context.screen.askSecret("Proof of possession again: ") {
                            guard secret.isEmpty else { return secret as Secret? }
                            context.screen.say(ProofQuestion.afterNothing)
                        }
                        return nil
                    }
                }
                if Interruption.hasBegun { throw CancellationError() }
                guard let answer else { throw error }
                target.credentials.proofOfPossession = { ProofOfPossession(answer) }
            }
        }
    }

    private static let maximumProofs = 3
    /// The board's fifth attempt is left for a later user.
    private static let maximumRefusals = 4

    private static func wrongProof(_ error: any Error) -> BoardError? {
        let cause: BoardError? =
            switch error {
            case let error as BoardError: error
            case let error as RainKitError: error.board
            default: nil
            }
        return cause?.code == .wrongProofOfPossession ? cause : nil
    }

    /// Finds the board if the options name none.
    private static func search(
        _ kit: RainKitClient, _ context: Context, waits: Bool, within time: TimeBudget,
        found: @escaping @Sendable (FoundBoard) -> Void
    ) async throws -> BoardAddress {
        let questions = BoardQuestions(screen: context.screen)
        let looksAgain = Mutex(false)
        let obstacles = SearchProblems(context.output)
        let word = Task {
            // If a single board is plugged in, nothing has to be reported.
            try await Task.sleep(for: .milliseconds(700))
            let ways = kit.configuration.transports.filter(\.findsNewBoards).map { $0.scheme.wayToBoard }
            let until = waits ? " until one appears" : ""
            context.output.say("Looking for a board \(ways.joined(separator: ", "))\(until)…")
            obstacles.tell()
        }
        defer { word.cancel() }
        var choose: (@Sendable ([FoundBoard]) async -> FoundBoard?)?
        if context.mayAsk {
            choose = { boards in
                // The note must not overwrite the question.
                word.cancel()
                _ = await word.result
                obstacles.tell()
                switch await time.askingOnScreen({ await questions.choose(from: boards) }) {
                case .board(let board): return board
                case .again: looksAgain.withLock { $0 = true }
                case .stop: break
                }
                return nil
            }
        }
        while true {
            // This leaves a moment to report where the search has looked.
            let limit = time.leftForWaiting
            let shown = waits ? time.left : min(time.left, RainKitClient.searchTime)
            do {
                return try await context.screen.waiting(waitingForBoard, upTo: shown) {
                    try await kit.findBoard(
                        within: limit, waits: waits,
                        // A list of all follows where somebody can choose from it.
                        found: { board in
                            found(board)
                            if !context.mayAsk { context.output.say("Found \(board.line)") }
                        },
                        unavailable: { obstacles.take($1, on: $0) },
                        choose: choose)
                }
            } catch {
                let again = looksAgain.withLock { looksAgain in
                    defer { looksAgain = false }
                    return looksAgain
                }
                guard again else { throw error }
            }
        }
    }

    /// Whether a name is of another board than the code. Over Bluetooth, an address may stand for the name.
    static func contradicts(_ name: String, _ code: QRPayload) -> Bool {
        let isAddress =
            name.split(separator: ":", omittingEmptySubsequences: false).map(\.utf8.count) == [2, 2, 2, 2, 2, 2]
        return !isAddress && name.lowercased() != code.name.lowercased()
    }

    private static func qrCode(
        _ options: DeviceOptions, _ context: Context, within time: TimeBudget
    ) throws -> QRPayload? {
        guard let text = options.qrcode else { return nil }
        let bytes = try QRText.bytes(text, context.output, within: time.left)
        let code: QRPayload
        do {
            code = try QRPayload(bytes)
        } catch {
            throw CommandFailure(.badData, reason: "bad_qr_code", message: error.message)
        }
        if let network = code.network, network != "wifi" {
            throw CommandFailure(
                .other, reason: "unsupported",
                message: "The QR code is for a board that joins a network other than Wi-Fi: \(network.onOneLine).")
        }
        return code
    }
}

/// The problems of transports in a search. They are reported while the search continues over the others, as soon as it is known that there
/// is a search.
final class SearchProblems: Sendable {
    private struct State {
        var isTelling = false
        var lines: [String] = []
        /// Two transports may fail for the same reason, such as a missing bus.
        var messages: Set<String> = []
    }

    private let output: Output
    private let state = Mutex(State())

    init(_ output: Output) { self.output = output }

    func take(_ error: BoardError, on scheme: String) {
        state.withLock { state in
            guard state.messages.insert(error.message).inserted else { return }
            let line = "Looking for a board \(scheme.wayToBoard) failed: \(error.message.onOneLine)"
            if state.isTelling { output.say(line) } else { state.lines.append(line) }
        }
    }

    /// Reports earlier problems now, and later ones at once.
    func tell() {
        state.withLock { state in
            state.isTelling = true
            for line in state.lines { output.say(line) }
            state.lines = []
        }
    }
}

/// The question for the board's proof of possession.
struct ProofQuestion: Sendable {
    let screen: Screen
    /// Whether the board is on a cable, so that its log can be read.
    var isOnCable = false

    static let afterNothing = "Nothing was typed. Type the proof of possession, or press Ctrl-C."

    /// The text before the question.
    var explanation: String {
        let places = "The board requires its proof of possession. It is on the board's label or in its QR code."
        guard isOnCable else { return places }
        return
            "\(places) It is also in the log that the board prints when it starts. To let the command read it from there, press "
            + "Ctrl-C, press RESET on the board, and run the command again at once."
    }

    /// Returns the answer; nil at the end of input and at Ctrl-C.
    func ask() async -> ProofOfPossession? {
        await screen.asking {
            screen.say(explanation)
            while let secret = await screen.askSecret("Proof of possession: ") {
                guard secret.isEmpty else { return ProofOfPossession(secret) }
                screen.say(Self.afterNothing)
            }
            return nil
        }
    }
}

/// The question for one of several boards.
struct BoardQuestions: Sendable {
    enum Answer { case board(FoundBoard), again, stop }

    let screen: Screen

    static let question = "Board, by number or name (Enter for 1, r to search again): "

    func choose(from found: [FoundBoard]) async -> Answer {
        let boards = Self.nearestFirst(found)
        return await screen.asking {
            var list = ChoiceList(
                boards.enumerated().map { "\("\($0 + 1)".leftPadded(to: "\(boards.count)".count))  \($1.line)" })
            while let answer = await screen.ask(Self.question, offering: &list) {
                if answer.lowercased() == "r" { return .again }
                if answer.isEmpty { return .board(boards[0]) }
                if let number = Int(answer), let index = ChoiceList.index(number, of: boards.count) {
                    return .board(boards[index])
                }
                if let board = Self.board(named: answer, of: boards) { return .board(board) }
                screen.say("Type a number from 1 to \(boards.count), a name, or r to search again.")
            }
            return .stop
        }
    }

    /// Sorts boards by likelihood: first those on cables, then the strongest signals.
    static func nearestFirst(_ boards: [FoundBoard]) -> [FoundBoard] {
        boards.enumerated().sorted { a, b in
            let (near, far) = (a.element.signal ?? .max, b.element.signal ?? .max)
            return near == far ? a.offset < b.offset : near > far
        }.map(\.element)
    }

    /// Returns the board with exactly this name, or ignoring case if only one matches.
    static func board(named name: String, of boards: [FoundBoard]) -> FoundBoard? {
        if let board = boards.first(where: { $0.name == name || $0.address.location == name }) { return board }
        let wanted = name.lowercased()
        let alike = boards.filter {
            $0.name?.lowercased() == wanted || $0.address.location?.lowercased() == wanted
        }
        return alike.count == 1 ? alike[0] : nil
    }
}

extension FoundBoard {
    /// Name, transport and signal as text.
    var line: String {
        let strength = signal.map { "\($0) dBm" }
        let words = [name ?? address.location, address.scheme.wayToBoard, detail, strength].compactMap(\.self)
        return words.map(\.onOneLine).joined(separator: "  ")
    }
}
