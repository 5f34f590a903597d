// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import firmware_sim

@Suite("What a board draws by lot")
struct BoardRandomTests {
    @Test("a salt that Espressif's clients can use: no zero in front, which they would lose")
    func salts() {
        for seed in 0..<2000 as Range<UInt64> {
            var random = BoardRandom(seed: seed)
            let salt = random.salt()
            #expect(salt.count == 16 && salt[0] != 0)
        }
    }
}
