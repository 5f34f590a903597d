// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// An option's value that is one of a few words: an enum whose raw values are the words.
///
/// The parser could derive the same lists by itself. Its way needs a key path and several lookups of protocol conformances for each enum.
/// Every start of the command would pay for them, because each lookup searches all conformances of the program.
protocol WordArgument: ExpressibleByArgument, CaseIterable, RawRepresentable<String> {}

extension WordArgument {
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    /// The words need no descriptions: help shows them as they are.
    public static var allValueDescriptions: [String: String] { [:] }
}
