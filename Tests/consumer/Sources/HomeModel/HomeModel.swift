// SPDX-License-Identifier: Apache-2.0

// Types of the consumer whose names are general: a gateway has its own. RainKit must not bring types of these names into the file that
// imports both.

public struct Node { public init() {} }
public enum Status { case on, off }
public struct Board { public init() {} }
public protocol Transport {}
public struct Endpoint { public init() {} }
public struct Event { public init() {} }
public struct Group { public init() {} }
public struct Secret { public init() {} }
