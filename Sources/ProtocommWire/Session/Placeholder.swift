public typealias Security0Payload = EmptyMessage
public typealias Security1Payload = EmptyMessage
public typealias Security2Payload = EmptyMessage
