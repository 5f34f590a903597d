// SPDX-License-Identifier: Apache-2.0
import HomeModel
import RainKit

/// Each general name is the consumer's own, without the name of its module.
struct Radio: Transport {
    let node = Node()
    let status = Status.on
    let board = Board()
    let endpoint = Endpoint()
    let event = Event()
    let group = Group()
    let secret = Secret()

    /// RainKit's own types of such names have longer names.
    func take(_ node: RainKitNode, _ board: any RainKitBoard, _ secret: RainKitSecret) {}
}
