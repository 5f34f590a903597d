/// How long one may have the turn at a stored session, and how long the others wait for it.
package enum StoreLockTimes {
    /// A renewal is one call to the provider as a rule. Some are several, of ten seconds each at most: a description that has to be
    /// asked for first, a form with its redirects, a sign-out that has to renew. What takes longer in all is given up.
    package static let longest = Duration.seconds(30)
    /// Longer than anybody's turn, by what the store itself may take: so nobody gives up on one who is only slow.
    package static let wait = Duration.seconds(40)
}
