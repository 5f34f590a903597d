// SPDX-License-Identifier: Apache-2.0
import Testing

/// Gives a suite, or one test, a Chromium: ``HeadlessBrowser/withFreshPage(_:)`` hands it to whoever needs it.
///
/// A start costs as much as ten pages, so the tests of a suite share one; they must be `.serialized`.
public struct BrowserTrait: SuiteTrait, TestTrait, TestScoping {
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await HeadlessBrowser.with(folder) { browser in
                try await HeadlessBrowser.$current.withValue(browser) { try await function() }
            }
        }
    }
}

extension Trait where Self == BrowserTrait {
    /// A separate Chromium.
    public static var browser: Self { BrowserTrait() }
}
