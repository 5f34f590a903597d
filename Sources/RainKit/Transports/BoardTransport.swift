// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import Protocomm
import RainCrypto
import RainIO

/// A way to boards: finds them, and opens one at an address. Programs add their own to ``RainKitConfiguration/transports``.
///
/// `docs/internals/adding-a-transport.md` builds one, step by step.
public protocol BoardTransport: Sendable {
    /// The scheme of its addresses, such as `serial`: lower-case letters, digits and `-`.
    var scheme: String { get }

    /// How a command line names the parts of an address; the first that is a location counts as the address's.
    var options: [BoardOption] { get }

    /// Whether ``discover(_:found:)`` can find anything.
    var canDiscover: Bool { get }

    /// Whether a board seems to be connected now, so that this transport is meant where none is named.
    var hasBoardAtHand: Bool { get }

    /// Whether this machine leaves its own network to reach a board, so that what needs the internet is done before.
    var leavesNetwork: Bool { get }

    /// Whether its boards are on their network already: no run over it hands one any Wi-Fi settings.
    var isForConnectedBoards: Bool { get }

    /// Whether a board that is not there may still come, as when a person has yet to join its network.
    func mayAppearLater(_ address: BoardAddress) -> Bool

    /// Hands over each board in reach once, until `found` answers false or the time is over. Finding none is no error.
    ///
    /// Throws `unavailable` where this machine cannot look (no adapter, no rights), `cancelled`.
    func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(ProvisioningError)

    /// The board at an address, of which nothing is asked yet; without a location the only one in reach.
    ///
    /// Throws `invalidArgument` for a location that is none, or where several boards could be meant; `unavailable` where there is none, or
    /// where this machine cannot look; `cancelled`.
    func board(at address: BoardAddress, _ opening: BoardOpening) async throws(ProvisioningError) -> any Board

    /// Lets go of what all boards of this transport share.
    func close() async
}

extension BoardTransport {
    public var options: [BoardOption] { [] }
    public var canDiscover: Bool { false }
    /// Whether the boards that it finds wait to be set up, so that it is looked through where nobody names a board.
    public var findsNewBoards: Bool { canDiscover && !isForConnectedBoards }
    public var hasBoardAtHand: Bool { false }
    public var leavesNetwork: Bool { false }
    public var isForConnectedBoards: Bool { false }
    public func mayAppearLater(_ address: BoardAddress) -> Bool { false }
    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(ProvisioningError) {}
    public func close() async {}
}

/// An option of a command line that belongs to an address.
public struct BoardOption: Sendable, Hashable {
    /// The option without its dashes: `port`, `device-host`, `device-name`, `adapter`.
    public var name: String
    /// The address's parameter that it gives; nil for its location.
    public var parameter: String?
    /// Whether it is meant for the transport that the board is handed on to, so that it does not choose this one.
    public var isForOther = false

    /// The option gives the address's location, such as a port's path.
    public static func location(_ name: String) -> BoardOption { BoardOption(name: name, parameter: nil) }
    /// The option gives the address's parameter of the same name.
    public static func parameter(_ name: String) -> BoardOption { BoardOption(name: name, parameter: name) }
    /// The same, for where the board is handed on to another transport (``BoardOpening/other``).
    public static func forOther(_ name: String) -> BoardOption {
        BoardOption(name: name, parameter: name, isForOther: true)
    }
}

/// What a transport needs to open a board.
public struct BoardOpening: Sendable {
    /// For the secure session.
    public var credentials: BoardCredentials
    /// HTTP, cryptography and randomness.
    public var tools: RainKitTools
    /// By when the board must be found.
    public var foundBy: ContinuousClock.Instant
    /// Whether a board that is not there yet is waited for until then: somebody is about to plug it in.
    public var waitsForBoard = false
    /// Whether a board that takes no commands where it was asked is looked for in another way, as its log names it; otherwise it is known by
    /// its log alone, and answers `identify()` and nothing else.
    public var followsLog = true
    /// For what the board and its transport log, at `debug` and `trace` above all.
    public var logger: Logger
    /// Opens a board at another address, with credentials of its own: for a transport that learns there is a better way to the board, as a
    /// cable does on which the board's log names it. Throws `invalidArgument` where no other transport is at hand.
    public var other: @Sendable (BoardAddress, BoardCredentials) async throws(ProvisioningError) -> any Board
    /// Is handed each line of the board's own log where the transport hears that, without the secrets that firmware prints.
    public var deviceLog: @Sendable (String) -> Void = { _ in }
    /// Is told what happens to this machine's own network where it is left for the board's.
    public var networkChange: @Sendable (NetworkChange) -> Void = { _ in }
    /// A folder private to the user, for what a killed run leaves to the next; nil where nothing is to be kept.
    public var state: String?

    public init(
        credentials: BoardCredentials, tools: RainKitTools = RainKitTools(), foundBy: ContinuousClock.Instant,
        logger: Logger
    ) {
        self.credentials = credentials
        self.tools = tools
        self.foundBy = foundBy
        self.logger = logger
        other = { (address, _) async throws(ProvisioningError) -> any Board in
            throw ProvisioningError(.invalidArgument, message: "There is no other transport here for \(address).")
        }
    }
}

extension [any BoardTransport] {
    /// The ways to boards that need no registration: the serial cable, Bluetooth Low Energy, the board's own access point; and, where it is
    /// named, the network that a board has joined already.
    public static var standard: [any BoardTransport] { standard(in: SystemFiles()) }

    /// The same with the serial ports of another place than this system's own.
    public static func standard(in files: SystemFiles) -> [any BoardTransport] {
        [SerialBoards(in: files), BluetoothBoards(), SoftAPBoards(), OnNetworkBoards()]
    }
}

extension BoardOpening {
    /// A board that speaks protocomm over this transport.
    /// - Parameter announced: the security of a board whose version does not name it, where that is known.
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
