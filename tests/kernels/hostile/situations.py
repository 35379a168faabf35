"""Who runs ropecheck, and with what: root or an ordinary user, with and without user namespaces."""

import ctypes
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

USER = 65534  # nobody
CLONE_NEWUSER, PR_SET_DUMPABLE = 0x10000000, 4


def forbid_user_namespaces():
    """In a namespace of this process: the machine's own limit stays as it is."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # else /proc/self is root's
    if libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "no user namespace can be made here")
    for file, text in (("self/setgroups", "deny"), ("self/uid_map", f"{user} {user} 1"),
                       ("self/gid_map", f"{group} {group} 1"), ("sys/user/max_user_namespaces", "0")):  # fmt: skip
        Path("/proc", file).write_text(text)


@dataclass(frozen=True)
class Situation:
    name: str
    is_user: bool = False
    has_namespaces: bool = True
    options: tuple = ()  # of ropecheck
    harmless: tuple = ()  # attacks that are refused; elsewhere they reach the first process of the namespace
    open_to: tuple = ()  # attacks that succeed

    def start(self, command, **how):
        if self.is_user and os.geteuid() == 0:
            how.update(user=USER, group=USER, extra_groups=[])
        if not self.has_namespaces:
            how.update(preexec_fn=forbid_user_namespaces)
        return subprocess.Popen(command, **how)

    def give(self, folder):
        """The folder, and all in it, to whoever runs ropecheck."""
        if self.is_user and os.geteuid() == 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, USER, USER)


HERE = Situation("as it is")  # whoever asks
OF_A_USER = (
    Situation("a user", is_user=True),
    Situation("a user, `--sandbox require`", is_user=True, options=("--sandbox", "require")),
    # By a ROPECHECK_ variable ropecheck finds what a worker leaves behind.
    Situation("a user without user namespaces", is_user=True, has_namespaces=False,
              harmless=("kill_parent/first", "stop_parent/first"), open_to=("see_test",)),
)
OF_ROOT = (
    Situation("root"),
    Situation("root, `--sandbox require`", options=("--sandbox", "require")),
)


def everywhere():
    return (*OF_ROOT, *OF_A_USER) if os.geteuid() == 0 else OF_A_USER
