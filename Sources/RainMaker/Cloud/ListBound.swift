// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// How much of a list that comes in pages is taken: whoever answers in the cloud's place may hand out another page for ever.
struct ListBound {
    /// What is kept whole has a lower bound: in memory it is some ten times as large.
    static let wholeBytes = 16 << 20
    private static let maximumPages = 1000
    private static let maximumEntries = 100_000
    /// Of the service's own it is an id.
    private static let maximumToken = 1024

    private let what: String
    private var bytes: Int
    private var entries = maximumEntries
    private var tokens: Set<String> = []

    /// - Parameters:
    ///   - what: is listed, for messages.
    ///   - bytes: of all answers together.
    init(of what: String = "nodes", bytes: Int = 64 << 20) {
        self.what = what
        self.bytes = bytes
    }

    mutating func count(bytes more: Int) throws(AccountError) {
        bytes -= more
        guard bytes >= 0 else { throw endless("it is too long") }
    }

    mutating func count(_ more: Int) throws(AccountError) {
        entries -= more
        guard entries >= 0 else { throw endless("it has more than \(Self.maximumEntries) \(what)") }
    }

    mutating func count(_ more: Int, bytes: Int) throws(AccountError) {
        try count(bytes: bytes)
        try count(more)
    }

    /// - Parameter token: where the next page begins.
    mutating func count(next token: String) throws(AccountError) {
        guard token.utf8.count <= Self.maximumToken else {
            throw endless("a page's token has \(token.utf8.count) bytes")
        }
        guard tokens.insert(token).inserted else { throw endless("a page comes again") }
        guard tokens.count < Self.maximumPages else { throw endless("it has more than \(Self.maximumPages) pages") }
    }

    private func endless(_ why: String) -> AccountError {
        AccountError(.malformedAnswer, message: "the cloud's list of \(what) does not end: \(why)")
    }
}
