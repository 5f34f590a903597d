// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Returns the system's text for an error number, such as `No such file or directory` (`strerror(3)`).
package func systemErrorText(_ number: Int32) -> String { String(cString: strerror(number)) }
