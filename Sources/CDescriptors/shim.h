#pragma once
#include <sys/socket.h>

// Linux's, which Glibc as Swift imports it leaves out (its headers want _GNU_SOURCE): descriptors that no child inherits which another
// thread starts at that very moment.
int pipe2(int ends[2], int flags);
int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
