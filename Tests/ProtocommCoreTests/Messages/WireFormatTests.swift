// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport
import Testing

@Suite("Wire format")
struct WireFormatTests {
    @Test("a status outside a oneof is omitted when it is zero")
    func zeroIsOmitted() {
        #expect(StatusResponse(.success).encoded() == [])
        #expect(StatusResponse(.internalError).encoded() == hex("0805"))
    }
}
