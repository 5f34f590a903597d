// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Limits how many tests run at once to 16, unless the environment says otherwise.
///
/// Swift Testing (6.3) starts all tests at the same moment if nothing limits it. Each step of each test then waits for a step of all
/// others, which takes most of a minute on a busy machine, and real deadlines run out. Swift Testing reads the variable after the program
/// has started, so it is set when the program is loaded.
@section(".init_array") @used
private let limitParallelTests: @convention(c) () -> Void = {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0)
}
