// SPDX-License-Identifier: Apache-2.0
#pragma once

// Linux's, which Glibc as Swift imports it leaves out (its headers want _GNU_SOURCE): descriptors that no child inherits which another
// thread starts at that very moment, and the folder in which a child starts.
//
// Declared without a header of the system's: Clang gives an enumerator or a type to the first module it meets it in, and a file that
// imports Glibc alone then cannot see SOCK_STREAM, or not, as files happen to be compiled together.
struct sockaddr;
int posix_spawn_file_actions_addchdir_np(void *actions, const char *path);
int pipe2(int ends[2], int flags);
int accept4(int listener, struct sockaddr *address, unsigned int *length, int flags);
