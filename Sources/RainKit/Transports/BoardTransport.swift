// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import Protocomm
import RainCrypto
import RainIO

/// A transport to boards: it finds them, and opens the one at an address. Programs add their own to ``RainKitConfiguration/transports``.
///
/// `docs/internals/adding-a-transport.md` builds one, step by step.
public protocol BoardTransport: Sendable {
    /// The scheme of its addresses, such as `serial`: lower-case letters, digits and `-`.
    var scheme: String { get }

    /// The command line options for the parts of an address. The first one that is a location is the address's location.
    var options: [BoardOption] { get }

    /// Whether ``discover(_:found:)`` can find anything.
    var canDiscover: Bool { get }

    /// Whether a board seems to be connected now, so that this transport is the default.
    var hasBoardAtHand: Bool { get }

    /// Whether this machine leaves its own network to reach a board, so that work that needs the internet is done first.
    var leavesNetwork: Bool { get }

    /// Whether its boards are already on their network, so that no run over it sends Wi-Fi settings.
    var isForConnectedBoards: Bool { get }

    /// Whether a board that is absent may still appear, for example because a person must first join its network.
    func mayAppearLater(_ address: BoardAddress) -> Bool

    /// Reports each board in range once, until `found` returns false or the time is over. Finding none is not an error.
    ///
    /// Throws `unavailable` if this machine cannot search (no adapter, no rights), and `cancelled`.
    func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(BoardError)

    /// Returns the board at an address; without a location the only board in range. The board is asked nothing, unless that is the only way
    /// to learn its protocol.
    ///
    /// Throws `invalidArgument` for an invalid location, or if several boards match. Throws `unavailable` if there is none, or if this
    /// machine cannot search, and `cancelled`.
    func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board

    /// Finds the board at an address, for a run that opens it once it has come that far. The same errors as ``board(at:_:)``.
    ///
    /// By default the board is the one of ``board(at:_:)``, which connects with its first request.
    func locate(
        _ address: BoardAddress, _ opening: BoardOpening
    ) async throws(BoardError) -> UnopenedBoard

    /// Waits until one more board of a batch may begin, if the transport serves only a limited number at the same time.
    ///
    /// - Returns: the right to begin, which ends when it is dropped; nil if there is no limit, or the calling task is cancelled.
    func turn(at address: BoardAddress, logger: Logger) async -> BoardTurn?

    /// Releases the resources that all boards of this transport share.
    func close() async
}

/// The right of a board of a batch to use its transport, until this value is dropped.
public struct BoardTurn: Sendable {
    private let resource: any Sendable & AnyObject

    /// - Parameter resource: what ends the right when it is released.
    public init(_ resource: any Sendable & AnyObject) { self.resource = resource }
}

extension BoardTransport {
    public var options: [BoardOption] { [] }
    public var canDiscover: Bool { false }
    /// Whether the boards that it finds wait to be provisioned, so that it is searched if no board is named.
    public var findsNewBoards: Bool { canDiscover && !isForConnectedBoards }
    public var hasBoardAtHand: Bool { false }
    public var leavesNetwork: Bool { false }
    public var isForConnectedBoards: Bool { false }
    public func mayAppearLater(_ address: BoardAddress) -> Bool { false }
    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(BoardError) {}
    public func locate(
        _ address: BoardAddress, _ opening: BoardOpening
    ) async throws(BoardError) -> UnopenedBoard { UnopenedBoard(try await board(at: address, opening)) }
    public func turn(at address: BoardAddress, logger: Logger) async -> BoardTurn? { nil }
    public func close() async {}
}

/// A board that has been found, and how to open it. A run opens it in its step `identify`, and closes it at its end.
public struct UnopenedBoard: Sendable {
    /// The board's name in messages: its host or its port.
    public let peer: String
    private let opening: @Sendable () async throws(BoardError) -> any Board
    private let closing: @Sendable () async -> Void

    /// - Parameter open: opens the board. If it throws, nothing remains open, and it may be called again.
    public init(peer: String, open: @escaping @Sendable () async throws(BoardError) -> any Board) {
        self.peer = peer
        opening = open
        closing = {}
    }

    /// A board that connects with its first request, or that is open already.
    public init(_ board: any Board) {
        peer = board.peer
        opening = { () async throws(BoardError) in board }
        closing = { await board.close() }
    }

    /// Opens the board. The caller closes it.
    public func open() async throws(BoardError) -> any Board { try await opening() }

    /// Closes a board that is not going to be opened.
    public func close() async { await closing() }
}

/// A command line option for a part of an address.
public struct BoardOption: Sendable, Hashable {
    /// The option without its dashes: `port`, `device-host`, `device-name`, `adapter`.
    public var name: String
    /// The address's parameter that it sets; nil for its location.
    public var parameter: String?
    /// Whether it is for the other transport to which the board is passed on, so that it does not choose this one.
    public var isForOther = false

    /// An option for the address's location, such as a port's path.
    public static func location(_ name: String) -> BoardOption { BoardOption(name: name, parameter: nil) }
    /// An option for the address's parameter of the same name.
    public static func parameter(_ name: String) -> BoardOption { BoardOption(name: name, parameter: name) }
    /// The same, if the board is passed on to another transport (``BoardOpening/other``).
    public static func forOther(_ name: String) -> BoardOption {
        BoardOption(name: name, parameter: name, isForOther: true)
    }
}

/// The resources with which a transport opens a board.
public struct BoardOpening: Sendable {
    /// The secrets and requirements for the secure session.
    public var credentials: BoardCredentials
    /// HTTP, cryptography and randomness.
    public var tools: RainKitTools
    /// When the board must be found at the latest.
    public var foundBy: ContinuousClock.Instant
    /// Whether to wait until then for a board that is absent, because somebody is about to plug it in.
    public var waitsForBoard = false
    /// Whether a person is there who can join the board's network, or press a button on the board. If so, these are waited for until
    /// ``foundBy``. ``networkChange`` and ``portChange`` report what to do.
    public var waitsForPerson = false
    /// Whether a board that accepts no commands is searched for over another transport that its log names. If not, the board is known only
    /// by its log, and answers only `identify()`.
    public var followsLog = true
    /// The logger of the board and its transport, mainly at `debug` and `trace`.
    public var logger: Logger
    /// Opens a board at another address, with its own credentials. It is for a transport that finds a better one, such as a cable on which
    /// the board's log names it. Throws `invalidArgument` if no other transport is available.
    public var other: @Sendable (BoardAddress, BoardCredentials) async throws(BoardError) -> any Board
    /// Called with each line of the board's own log, if the transport receives it, without the secrets that firmware prints.
    public var deviceLog: @Sendable (String) -> Void = { _ in }
    /// Called with changes of this machine's own network when it is left for the board's.
    public var networkChange: @Sendable (NetworkChange) -> Void = { _ in }
    /// Called while nothing arrives from a serial port, with what is done about it and what a person can do.
    public var portChange: @Sendable (PortChange) -> Void = { _ in }
    /// Searches over the other transports for that time, and reports each board once. Also reports the scheme of each transport that cannot
    /// search.
    var nearby:
        @Sendable (Duration, @escaping @Sendable (FoundBoard) -> Void, @escaping @Sendable (String) -> Void) async ->
            Void =
            { _, _, _ in }
    /// The transports of ``nearby``.
    var nearbySchemes: [String] = []
    /// A folder private to the user, for data that a killed run leaves for the next; nil if nothing is to be kept.
    public var state: String?

    public init(
        credentials: BoardCredentials, tools: RainKitTools = RainKitTools(), foundBy: ContinuousClock.Instant,
        logger: Logger
    ) {
        self.credentials = credentials
        self.tools = tools
        self.foundBy = foundBy
        self.logger = logger
        other = { (address, _) async throws(BoardError) -> any Board in
            throw BoardError(.invalidArgument, message: "No other transport is available for \(address).")
        }
    }
}

extension [any BoardTransport] {
    /// The transports that need no registration: the serial cable, Bluetooth Low Energy and the board's own access point. The network that
    /// a board has already joined is used only if it is named.
    public static var standard: [any BoardTransport] { standard(in: SystemFiles()) }

    /// The same transports with the serial ports in another folder than this system's own.
    public static func standard(in files: SystemFiles) -> [any BoardTransport] {
        [SerialBoards(in: files), BluetoothBoards(), SoftAPBoards(), OnNetworkBoards()]
    }
}

extension BoardOpening {
    /// Returns a board with protocomm over this transport.
    ///
    /// - Parameter announced: the security of a board whose version information does not name it, if known.
    public func protocommBoard(
        over transport: any Transport, announced: SecurityRequirement? = nil
    ) -> any Board {
        board(over: transport, announced, suite: tools.crypto, random: tools.random)
    }

    private func board<Suite: CryptoSuite>(
        over transport: any Transport, _ announced: SecurityRequirement?, suite: Suite.Type, random: some RandomSource
    ) -> any Board {
        ProtocommBoard(
            transport: transport, credentials: credentials, suite: suite, random: random, announced: announced,
            clock: tools.timer, logger: logger)
    }
}
