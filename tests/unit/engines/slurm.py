"""A Slurm cluster of only this machine: munged, slurmctld and slurmd in a folder of its own, without systemd."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
CPUS = 2
SEARCHED = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
PR_SET_PDEATHSIG = 1


class Unavailable(Exception):
    """Why this machine cannot run Slurm."""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def end_with_the_test():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_for(happens, what, seconds=120):
    until = time.monotonic() + seconds
    while not (value := happens()):
        if time.monotonic() > until:
            raise AssertionError(f"after {seconds} s: {what}")
        time.sleep(0.01)
    return value


class Cluster:
    def __init__(self, folder):
        missing = [name for name in PROGRAMS if shutil.which(name, path=SEARCHED) is None]
        if missing:
            raise Unavailable(f"{', '.join(missing)} not found (Debian packages slurmctld, slurmd, slurm-client, munge)")
        if os.geteuid() != 0:
            raise Unavailable("munged and slurmd need root")
        self.folder = folder
        self.host = socket.gethostname().split(".")[0]
        self.daemons = {}
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM", "SBATCH", "SQUEUE"))}  # fmt: skip
        self.environment |= {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": SEARCHED}

    def __enter__(self):
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if "slurmctld" in self.daemons:
            self.run("scancel", "--user=root", check=False)
            until = time.monotonic() + 10  # without slurmctld, a slurmstepd would be left
            while self.run("squeue", "--noheader", check=False).stdout and time.monotonic() < until:
                time.sleep(0.1)
        for name in reversed(list(self.daemons)):
            self.kill(name)

    def _start_all(self):
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir(mode=0o755)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(self._configuration())
        munge = self.folder / "munge"
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket",
                   f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")  # fmt: skip
        wait_for((munge / "socket").exists, "munged has no socket")
        self.start("slurmctld", "-D")
        wait_for(lambda: self.run("scontrol", "ping", check=False).returncode == 0, "slurmctld does not answer")
        self.start_slurmd()

    def _configuration(self):
        controller, daemon = free_ports(2)
        template = (Path(__file__).parent / "slurm.conf.in").read_text()
        return template.format(at=self.folder, host=self.host, controller=controller, daemon=daemon, cpus=CPUS)

    def start(self, name, *words):
        with open(self.folder / f"{name}.out", "ab") as output:
            self.daemons[name] = subprocess.Popen([shutil.which(name, path=SEARCHED), *words], env=self.environment,
                                                  stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                                  preexec_fn=end_with_the_test)  # fmt: skip

    def start_slurmd(self):
        self.start("slurmd", "-D")
        wait_for(self.node_is_ready, "slurmd's node is not ready")

    def node_is_ready(self):
        state = self.node_state()
        if state.startswith("down"):  # slurmctld refuses it if the node has come back by itself since
            self.set_node_state("RESUME", check=False)
        return state in ("idle", "mixed", "allocated")

    def node_state(self):
        return self.run("sinfo", "--noheader", "--format=%T", check=False).stdout.strip()

    def set_node_state(self, state, *more, check=True):
        self.run("scontrol", "update", f"NodeName={self.host}", f"State={state}", *more, check=check)

    def kill(self, name):
        daemon = self.daemons.pop(name)
        daemon.kill()
        daemon.wait()

    def run(self, *words, check=True, **more):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=120, **more)
        if check and done.returncode != 0:
            raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
        return done

    def queue(self):
        return self.run("squeue", "--noheader").stdout.split("\n")[:-1]

    def running(self):
        """The indices of array jobs that run."""
        return self.run("squeue", "--noheader", "--states=RUNNING", "--format=%K").stdout.split()
