// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

@Suite("A service that is looked for")
struct ServiceUUIDTests {
    @Test(
        "is a UUID of 128 bits",
        arguments: [
            ("1775244d-6b43-439b-877c-060f2d9bed07", true), ("1775244D-6B43-439B-877C-060F2D9BED07", true),
            ("xyz", false), ("180f", false), ("", false), ("1775244d6b43439b877c060f2d9bed07", false),
            ("1775244d-6b43-439b-877c-060f2d9bed0g", false), ("1775244d-6b43-439b-877c-060f2d9bed07-", false),
        ])
    func form(text: String, isRight: Bool) { #expect(DeviceDiscover.isUUID(text) == isRight) }
}
