/* The forked command without Python's start, which would be half of what it costs: see forked.py.
 *
 * Hands its arguments, folder, mask, environment, parent and streams to the server at SOCKET, and ends as
 * the process ends that the server forks. What it sends is a number of four bytes, the most significant one
 * first, and that many bytes: texts that each end with a zero.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return 70;
}

int main(int count, char **arguments) {
    struct sockaddr_un server = {.sun_family = AF_UNIX, .sun_path = SOCKET};
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&server, sizeof server))
        return fail(SOCKET);
    if (connection < 3) {
        fprintf(stderr, "a command with a closed stdin, stdout or stderr is not forked: take STARTED\n");
        return 1;
    }

    mode_t mask = umask(0);
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder))
        return fail("getcwd");
    char *body;
    size_t length;
    FILE *asked = open_memstream(&body, &length);
    if (!asked)
        return fail("open_memstream");
    fprintf(asked, "%s%c%d%c%d%c%d%c", folder, 0, (int)mask, 0, (int)getppid(), 0, count - 1, 0);
    for (char **word = arguments + 1; *word; word++)
        fprintf(asked, "%s%c", *word, 0);
    for (char **variable = environ; *variable; variable++)
        fprintf(asked, "%s%c", *variable, 0);
    if (fclose(asked))
        return fail("fclose");

    uint32_t head = htonl((uint32_t)length);
    struct iovec first = {&head, sizeof head};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(3 * sizeof(int))];
    } rights;
    memset(&rights, 0, sizeof rights);
    rights.header.cmsg_level = SOL_SOCKET;
    rights.header.cmsg_type = SCM_RIGHTS;
    rights.header.cmsg_len = CMSG_LEN(3 * sizeof(int));
    memcpy(CMSG_DATA(&rights.header), (int[]){0, 1, 2}, 3 * sizeof(int));
    struct msghdr message = {
        .msg_iov = &first,
        .msg_iovlen = 1,
        .msg_control = rights.space,
        .msg_controllen = sizeof rights.space,
    };
    if (sendmsg(connection, &message, MSG_NOSIGNAL) != sizeof head)
        return fail("sendmsg");
    for (size_t sent = 0; sent < length;) {
        ssize_t some = send(connection, body + sent, length - sent, MSG_NOSIGNAL);
        if (some < 0)
            return fail("send");
        sent += (size_t)some;
    }

    char answer[17] = "70";
    ssize_t received = recv(connection, answer, sizeof answer - 1, 0);
    if (received > 0)
        answer[received] = 0;
    int code = atoi(answer);
    if (code < 0)
        kill(getpid(), -code);
    return code;
}
