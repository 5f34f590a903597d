// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The arguments with which `unshare` may create namespaces: none for root, a user namespace for other users.
public let namespacePrivileges = geteuid() == 0 ? [] : ["--map-root-user"]
