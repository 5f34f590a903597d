import Glibc

/// The process's working folder; nil if it is gone.
func currentFolder() -> String? {
    guard let text = getcwd(nil, 0) else { return nil }
    defer { free(text) }
    return String(cString: text)
}
