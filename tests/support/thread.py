"""thread: a single thread of another process, stopped for a while, so that the rest goes on without it."""

import ctypes
import os

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000


class Refused(Exception):
    """This host does not let us; the text says why."""


class Stopped:
    """Stops a thread from entry to exit, by ptrace(2): signals would stop its whole process."""

    def __init__(self, tid):
        self.tid = tid
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]

    def ask(self, request):
        if self.libc.ptrace(request, self.tid, None, None) < 0:
            raise Refused(f"ptrace: {os.strerror(ctypes.get_errno())}")

    def __enter__(self):
        self.ask(SEIZE)
        self.ask(INTERRUPT)
        os.waitpid(self.tid, WALL)
        return self

    def __exit__(self, *_):
        try:
            self.ask(DETACH)
        except Refused:
            pass  # it is gone


def workers_of(pid):
    """The threads of a process but its first."""
    return [int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid]
