// SPDX-License-Identifier: Apache-2.0
import CustomTransport
import ExampleSettings
import RainKit
import RainKitTesting

// Everything that a transport promises, against a board that answers as the suite wants it (examples/tcp-board --conformance).
let place = setting("PLACE")
try await TransportConformance.check { try tcpTransport(to: place) }
print("conforms")
