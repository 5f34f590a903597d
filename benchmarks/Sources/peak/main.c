// SPDX-License-Identifier: Apache-2.0

// `peak PROGRAM ARGUMENT…` runs it and writes the most memory that it held, in KiB, to descriptor 3; ends as it ended.
//
// The kernel's figure survives exec: a program that is started by a big one seems at least as big. This one is small.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 2) return 64;
    pid_t child = fork();
    if (child == 0) {
        close(3);
        execvp(arguments[1], arguments + 1);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) return 70;
    dprintf(3, "%ld\n", usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
