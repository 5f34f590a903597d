// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum VocabularyModule {
    public static let name = "Vocabulary"
}
