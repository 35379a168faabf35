"""The kinds of hostile subjects: how each subject is made, and its name on the command line."""

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tools" / "python"))
from rope_kernel import Library  # noqa: E402

PATIENT = ("--deadline", "0.5", "--first-deadline", "4", "--wall-deadline", "0.5")  # an interpreter starts, and imports numpy


@dataclass(frozen=True)
class Attack:
    name: str
    argument: str  # of the command line


@dataclass
class Kind:
    """What one list of attacks has in common."""

    name: str
    noun: str
    attacks: list
    # A hang costs both deadlines, twice: each is as short as a busy machine allows.
    options: tuple = ("--deadline", "0.3", "--first-deadline", "1", "--wall-deadline", "0.3")
    requirement: str = "ROT-02"  # few cases: a worker in Python computes slowly
    environment: dict = field(default_factory=dict)  # {folder}: of the run
    start: tuple = ()  # of the command

    @property
    def list_of_sentences(self):
        return HERE / f"{self.name}.txt"


def built(library):
    if not library.is_file():
        raise LookupError(f"{library} is missing; build it with tools/test")
    return library


def native(build, _folder, _python):
    library = built(build / "hostile_kernels.so")
    names = list(Library(library).kernels)
    return Kind("native", "native kernels", [Attack(name, f"{library}#{name}") for name in names],
                requirement="ROT-01")


def listed(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def workers(_build, _folder, _python):
    program = HERE / "hostile_worker.py"
    start = f"cmd:{shlex.quote(sys.executable)} -B -S -E {shlex.quote(str(program))}"
    names = listed([sys.executable, "-B", str(program)])
    return Kind("workers", "workers", [Attack(name, f"{start} {name}") for name in names],
                ("--deadline", "0.3", "--first-deadline", "1.5", "--wall-deadline", "0.3"))


def python(_build, _folder, interpreter):
    names = listed([interpreter, "-B", str(HERE / "hostile_numpy.py")])
    attacks = [Attack(name, f"python:hostile_numpy:{name}") for name in names]
    # The folder of the module need not be the current one.
    return Kind("python", "Python kernels", attacks, (*PATIENT, "--python", interpreter),
                environment={"PYTHONPATH": str(HERE)})


# The statements of libraries.c that make each library hostile.
STATEMENTS = {
    "load_exits": "AT_LOAD=exit(0)",
    "load_exits_at_once": "AT_LOAD=_exit(3)",
    "load_aborts": "AT_LOAD=abort()",
    "load_crashes": "AT_LOAD=crash()",
    "load_hangs": "AT_LOAD=hang()",
    "load_sleeps": "AT_LOAD=sleep(100)",
    "load_stops": "AT_LOAD=raise(SIGSTOP)",
    "load_overflows_stack": "AT_LOAD=recurse(text)",
    "load_prints": "AT_LOAD=flood()",
    "load_closes_files": "AT_LOAD=close_all()",
    "load_says_deep": "AT_LOAD=say('[',100000)",
    "load_says_long": "AT_LOAD=say('x',2000000)",
    "load_kills_group": "AT_LOAD=kill(0,SIGKILL)",
    "load_forks": "AT_LOAD=if(fork()!=0)wait(NULL)",
    "unload_crashes": "AT_UNLOAD=crash()",
    "unload_hangs": "AT_UNLOAD=hang()",
    "no_symbols": "WITHOUT_SYMBOLS",
    "no_count": "COUNT_NAME=other_count",
    "no_get": "GET_NAME=other_get",
    "count_0": "AT_COUNT=return 0",
    "count_2": "AT_COUNT=return 2",
    "count_largest": "AT_COUNT=return UINT32_MAX",
    "count_crashes": "AT_COUNT=crash()",
    "count_hangs": "AT_COUNT=hang()",
    "count_rises": "AT_COUNT=static uint32_t n; return ++n",
    "get_null": "AT_GET=return NULL",
    "get_no_address": "AT_GET=return (const rope_kernel*)8",
    "get_crashes": "AT_GET=crash()",
    "get_exits": "AT_GET=exit(0)",
    "get_hangs": "AT_GET=hang()",
    "get_other_each_time": "AT_GET=text[0]++",
    "same_kernel_twice": "AT_COUNT=return 2;|AT_GET=return &kernel",
    "name_null": "AT_GET=kernel.name=NULL",
    "name_no_address": "AT_GET=kernel.name=(const char*)8",
    "name_empty": "AT_GET=text[0]=0",
    "name_long": "AT_GET=memset(text,'x',sizeof text-1)",
    "name_without_end": "AT_GET=memset(text,'x',sizeof text)",
    "name_with_number_sign": "AT_GET=text[0]='#'",
    "name_with_escapes": "AT_GET=memcpy(text,\"\\a\\x1b[31m\",6)",
    "name_bad_utf8": "AT_GET=memcpy(text,\"\\xff\\xc0\",2)",
    "apply_null": "AT_GET=kernel.apply=NULL",
    "apply_no_address": "AT_GET=kernel.apply=(int32_t(*)(const rope_call*))8",
    "struct_small": "AT_GET=kernel.struct_size=8",
    "struct_largest": "AT_GET=kernel.struct_size=UINT32_MAX",
    "abi_0": "AT_GET=kernel.abi=0",
    "abi_largest": "AT_GET=kernel.abi=UINT32_MAX",
    "head_dims_no_address": "AT_GET=kernel.claims.head_dims=(const int32_t*)8",
    "head_dims_many": "AT_GET=kernel.claims.head_dim_count=100000",
    "head_dims_count_largest": "AT_GET=kernel.claims.head_dim_count=INT32_MAX",
    "head_dims_count_negative": "AT_GET=kernel.claims.head_dim_count=-1",
    "head_dim_largest": "AT_GET=dims[0]=INT32_MAX-1",
    "head_dim_negative": "AT_GET=dims[0]=-8",
    "max_position_largest": "AT_GET=kernel.claims.max_position=INT64_MAX",
    "max_position_negative": "AT_GET=kernel.claims.max_position=-1",
    "alignment_3": "AT_GET=kernel.claims.alignment=3",
    "alignment_largest": "AT_GET=kernel.claims.alignment=1u<<31",
    "dtypes_all_bits": "AT_GET=memset(kernel.claims.out_dtypes,255,16)",
    "claims_all_bits": "AT_GET=memset(&kernel.claims,255,sizeof kernel.claims)",
    "claims_nothing": "AT_GET=memset(&kernel.claims,0,sizeof kernel.claims)",
    "device_unknown": "AT_GET=kernel.claims.device=77",
    "base_nan": "AT_GET=kernel.claims.base=__builtin_nan(\"\")",
    "least_rotary_dim_large": "AT_GET=kernel.claims.least_rotary_dim=1<<30",
}


def change(at, byte):
    def write(path, right):
        path.write_bytes(right[:at] + bytes([byte]) + right[at + 1:])
    return write


def sparse(path, right):
    path.write_bytes(right)
    os.truncate(path, 1 << 40)


# Files of another making. `right`: the bytes of a right library.
FILES = {
    "file_empty": lambda path, right: path.write_bytes(b""),
    "file_text": lambda path, right: path.write_text("int main(void) { return 0; }\n"),
    "file_mark_only": lambda path, right: path.write_bytes(right[:4]),
    "file_header_only": lambda path, right: path.write_bytes(right[:64]),
    "file_half": lambda path, right: path.write_bytes(right[:len(right) // 2]),
    "file_zeros_after_header": lambda path, right: path.write_bytes(right[:64] + bytes(len(right) - 64)),
    "file_of_32_bits": change(4, 1),
    "file_big_endian": change(5, 2),
    "file_of_other_machine": change(18, 0xF3),
    "file_no_library": change(16, 1),
    "file_terabyte": sparse,
    "file_folder": lambda path, right: path.mkdir(),
    "file_fifo": lambda path, right: os.mkfifo(path),
    "file_device": lambda path, right: path.symlink_to("/dev/zero"),
    "file_missing": lambda path, right: None,
    "file_link_to_nothing": lambda path, right: path.symlink_to("/nowhere"),
    "file_link_to_itself": lambda path, right: path.symlink_to(path),
    "file_program": lambda path, right: path.symlink_to("/bin/true"),
}


def compiled(path, *definitions):
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-fPIC", "-shared", f"-I{ROOT}", "-w",
               *(f"-D{each}" for each in definitions), str(HERE / "libraries.c"), "-o", str(path)]
    subprocess.run(command, check=True)


def libraries(_build, folder, _python):
    compiled(folder / "right.so")
    right = (folder / "right.so").read_bytes()
    for name, statement in STATEMENTS.items():
        compiled(folder / f"{name}.so", *statement.split("|"))
    for name, make in FILES.items():
        make(folder / f"{name}.so", right)
    names = [*STATEMENTS, *FILES]
    return Kind("libraries", "libraries", [Attack(name, str(folder / f"{name}.so")) for name in names])


ESCAPES = ("patch_suite", "trace_suite", "make_sibling", "read_token", "see_test", "stay_behind", "signal_victim",
           "read_secret", "write_file", "change_attributes", "forbidden_calls")  # fmt: skip


def escapes(build, _folder, _python):
    """They attack ropecheck itself, its report, and a file in HOME."""
    variables = {"HOSTILE_FILE": "@{folder}/home/secret", "HOSTILE_REPORT": "{folder}/report.json"}
    passed = [word for name in ("HOSTILE_VICTIM", *variables) for word in ("--env", name)]
    library = built(build / "hostile.so")
    return Kind("escapes", "escapes", [Attack(name, f"{library}#{name}") for name in ESCAPES],
                (*Kind.options, *passed), "ROT-01", {**variables, "HOSTILE_TOKEN": "secret"},
                ("sh", "-c", 'HOSTILE_VICTIM=$$ exec "$@"', "sh"))


KINDS = {"native": native, "workers": workers, "libraries": libraries, "python": python, "escapes": escapes}
