// SPDX-License-Identifier: Apache-2.0

extension AccountSession {
    /// Waits until every renewal of this process, whichever session it is of, whose request has gone out is answered and stored. To be called
    /// before a process ends, once the tasks that use its sessions are cancelled or done.
    ///
    /// A provider that replaces refresh tokens forgets the old one as it answers. A process that ends before it has stored that answer
    /// loses the session: the next one presents the old token, which such providers take for a stolen one (RFC 9700, section 4.14.2).
    /// Nothing is waited for where no request is under way, and a cancelled renewal that has not sent its request never does.
    ///
    /// ```swift
    /// work.cancel()
    /// await work.value
    /// await AccountSession.finishRenewals(within: .seconds(5))
    /// exit(0)
    /// ```
    ///
    /// - Parameter limit: how long to wait at most. No renewal takes longer than the 30 seconds that it is by default.
    /// - Returns: whether none is under way any more. False, at once, where the calling task is cancelled meanwhile.
    @discardableResult
    public static func finishRenewals(within limit: Duration = .seconds(30)) async -> Bool {
        await RenewalsUnderWay.current.finish(within: limit)
    }
}
