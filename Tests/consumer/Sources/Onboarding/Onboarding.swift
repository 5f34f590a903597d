// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum OnboardingModule {
    public static let name = "Onboarding"
}
