// SPDX-License-Identifier: Apache-2.0
import CustomTransport
import ExampleSettings
import RainKit
import RainKitTesting

// Checks everything that a transport promises, against a board that answers as the suite expects (examples/tcp-board --conformance).
let place = setting("PLACE")
try await TransportConformance.check { try tcpTransport(to: place) }
print("conforms")
