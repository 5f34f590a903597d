// SPDX-License-Identifier: Apache-2.0
extension KeyMaterial {
    package init(count: Int, drawingFrom random: inout some RandomSource) {
        self.init(count: count) { random.fill($0) }
    }
}
