// SPDX-License-Identifier: Apache-2.0

/// How long a stored session's lock may be held, and how long others wait for it.
package enum StoreLockTimes {
    /// Most renewals are one call to the provider. Some are several, of ten seconds each at most: discovery first, a form with redirects,
    /// a sign-out that has to renew. A renewal that takes longer in all is given up.
    package static let longest = Duration.seconds(30)
    /// Longer than ``longest`` by the time that the store itself may take, so that nobody gives up on a holder that is only slow.
    package static let wait = Duration.seconds(40)
}
