// SPDX-License-Identifier: Apache-2.0
#pragma once

// Linux functions that Swift's Glibc module leaves out, most of them because their headers require _GNU_SOURCE. They open descriptors that no child
// inherits, not even one that another thread starts at that moment, and set a child's starting folder.
//
// They are declared without a system header. Clang assigns an enumerator or a type to the first module in which it finds it. Then a file
// that imports Glibc alone may not see SOCK_STREAM, depending on the files that are compiled together.
struct sockaddr;
int posix_spawn_file_actions_addchdir_np(void *actions, const char *path);
int pipe2(int ends[2], int flags);
int eventfd(unsigned int value, int flags);
int accept4(int listener, struct sockaddr *address, unsigned int *length, int flags);
