"""Calls that read or change something outside the tensors: which they are, and what to do about them.

Each of them ended a graph with PyTorch 2.13 when it was run between two tensor operations; those that Dynamo follows by
itself (`os.environ`, `random.randint`, `platform.system`, `copy.deepcopy` of plain lists) are not here.
"""

from __future__ import annotations

import ast
from enum import Enum

from gbfix.analysis.names import Names
from gbfix.analysis.source import FunctionNode
from gbfix.engine.dataclass import dataclass


class Reads(str, Enum):
    """What a call reads or changes outside, in words."""

    CLOCK = "a clock"
    PROCESS = "the process or the machine"
    FRAME = "the interpreter's frames or counts"
    NAMES = "the names of the program"
    FILES = "files"
    WRITES = "files, and writes them"
    COMMAND = "another program"
    DRAW = "Python's random generator"
    NUMPY_DRAW = "NumPy's random generator"
    SEED = "the state of a random generator"
    GENERATOR = "a random generator of its own"
    SLEEP = "nothing, it waits"
    VALUE = "nothing but its arguments"


@dataclass(frozen=True)
class HostCall:
    """A call of a known host function. name: its dotted name, "random.Random.choice" for a method of an object."""

    node: ast.Call
    name: str
    reads: Reads


def _named(reads: Reads, module: str, names: str) -> dict[str, Reads]:
    return {f"{module}.{name}": reads for name in names.split()}


_DRAWS = (
    "random choice choices sample shuffle gauss normalvariate lognormvariate betavariate expovariate gammavariate "
    "paretovariate triangular vonmisesvariate weibullvariate getrandbits randbytes"
)
_DRAWN_FOLLOWED = frozenset({"random.Random.random"})  # Dynamo follows these of an object, though not of the module

KNOWN: dict[str, Reads] = {
    **_named(
        Reads.CLOCK,
        "time",
        "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns thread_time "
        "thread_time_ns localtime gmtime strftime ctime",
    ),
    **_named(Reads.CLOCK, "datetime.datetime", "now utcnow today"),
    **_named(Reads.CLOCK, "datetime.date", "today"),
    **_named(Reads.SLEEP, "time", "sleep"),
    **_named(Reads.PROCESS, "os", "getpid getppid getcwd cpu_count urandom putenv unsetenv getloadavg"),
    **_named(Reads.PROCESS, "uuid", "uuid1 uuid4"),
    **_named(Reads.PROCESS, "secrets", "token_hex token_bytes token_urlsafe randbelow"),
    **_named(Reads.PROCESS, "socket", "gethostname getfqdn"),
    **_named(Reads.PROCESS, "threading", "get_ident current_thread active_count get_native_id"),
    **_named(Reads.PROCESS, "getpass", "getuser"),
    **_named(Reads.PROCESS, "resource", "getrusage"),
    **_named(Reads.PROCESS, "locale", "getlocale"),
    **_named(Reads.PROCESS, "torch", "get_num_threads set_num_threads"),
    **_named(Reads.PROCESS, "torch.cuda", "memory_allocated memory_reserved max_memory_allocated"),
    **_named(Reads.FRAME, "inspect", "currentframe stack"),
    **_named(Reads.FRAME, "sys", "_getframe getsizeof getrefcount"),
    **_named(Reads.FRAME, "traceback", "format_stack print_stack extract_stack"),
    **_named(Reads.FRAME, "gc", "collect"),
    **_named(Reads.FILES, "os", "listdir scandir stat walk"),
    **_named(Reads.FILES, "os.path", "exists isfile isdir getsize getmtime abspath realpath"),
    **_named(Reads.FILES, "glob", "glob"),
    **_named(Reads.FILES, "torch", "load"),
    **_named(Reads.FILES, "numpy", "load loadtxt"),
    **_named(Reads.FILES, "json", "load"),
    **_named(Reads.FILES, "pickle", "load"),
    **_named(Reads.WRITES, "torch", "save"),
    **_named(Reads.WRITES, "numpy", "save savez savetxt"),
    **_named(Reads.WRITES, "json", "dump"),
    **_named(Reads.WRITES, "pickle", "dump"),
    **_named(Reads.WRITES, "os", "makedirs mkdir remove rename replace"),
    **_named(Reads.WRITES, "shutil", "copy copyfile move rmtree"),
    **_named(Reads.WRITES, "tempfile", "TemporaryFile NamedTemporaryFile TemporaryDirectory mkdtemp mkstemp"),
    **_named(Reads.COMMAND, "subprocess", "run call check_call check_output Popen"),
    **_named(Reads.COMMAND, "os", "system popen"),
    **_named(Reads.DRAW, "random", _DRAWS),
    **_named(Reads.DRAW, "random.Random", _DRAWS),
    **_named(Reads.NUMPY_DRAW, "numpy.random.Generator", "random integers normal uniform choice standard_normal"),
    **_named(Reads.SEED, "random", "seed getstate setstate"),
    **_named(Reads.SEED, "torch", "manual_seed get_rng_state set_rng_state initial_seed"),
    **_named(Reads.SEED, "torch.random", "manual_seed get_rng_state set_rng_state initial_seed fork_rng"),
    **_named(Reads.SEED, "torch.cuda", "manual_seed manual_seed_all get_rng_state set_rng_state"),
    **_named(Reads.GENERATOR, "torch", "Generator"),
    **_named(Reads.VALUE, "zlib", "crc32 adler32 compress decompress"),
    **_named(Reads.VALUE, "json", "dumps loads"),
    **_named(Reads.VALUE, "pickle", "dumps loads"),
    **_named(Reads.VALUE, "base64", "b64encode b64decode"),
    **_named(Reads.VALUE, "hashlib", "md5 sha1 sha256 sha512"),
    **_named(Reads.VALUE, "decimal", "Decimal"),
    **_named(Reads.VALUE, "statistics", "mean median stdev"),
    **_named(Reads.VALUE, "ctypes", "c_int c_uint c_int8 c_uint8 c_int16 c_uint16 c_int32 c_uint32 c_int64 c_uint64"),
    **_named(Reads.VALUE, "ctypes", "c_float c_double c_long c_bool sizeof"),
}
for _name in _DRAWN_FOLLOWED:
    del KNOWN[_name]

_BUILTINS = {
    "open": Reads.FILES,
    "globals": Reads.NAMES,
    "exec": Reads.NAMES,
    "input": Reads.PROCESS,
}
_PATH_METHODS = {
    **dict.fromkeys(("read_text", "read_bytes", "exists", "is_file", "is_dir", "stat", "iterdir"), Reads.FILES),
    **dict.fromkeys(("write_text", "write_bytes", "mkdir", "unlink", "touch", "rename"), Reads.WRITES),
}
_MADE_BY = {
    "random.Random": "random.Random",
    "random.SystemRandom": "random.Random",
    "numpy.random.default_rng": "numpy.random.Generator",
    "pathlib.Path": "pathlib.Path",
    "torch.Generator": "torch.Generator",
}
"""The kind of object that a call gives, as far as its methods matter here."""


def host_call(names: Names, node: ast.Call) -> HostCall | None:
    """What a call reads or changes outside, None for other calls; asks the bindings of the names in it."""
    qualified = names.qualified(node.func)
    if qualified in KNOWN:
        return HostCall(node, qualified, _opened_to_write(node) or KNOWN[qualified])
    if isinstance(node.func, ast.Name):
        for name, reads in _BUILTINS.items():
            if names.is_builtin(node.func, name):
                return HostCall(node, name, _opened_to_write(node) or reads)
    if isinstance(node.func, ast.Attribute):
        return _method(names, node, node.func)
    return None


def _method(names: Names, node: ast.Call, func: ast.Attribute) -> HostCall | None:
    kind = made_by(names, func.value)
    if kind == "pathlib.Path" and func.attr in _PATH_METHODS:
        return HostCall(node, f"pathlib.Path.{func.attr}", _PATH_METHODS[func.attr])
    if kind == "torch.Generator" and func.attr in ("manual_seed", "seed", "get_state", "set_state"):
        return HostCall(node, f"torch.Generator.{func.attr}", Reads.SEED)
    name = f"{kind}.{func.attr}"
    return HostCall(node, name, KNOWN[name]) if name in KNOWN else None


def made_by(names: Names, node: ast.expr) -> str | None:
    """The kind of object that an expression is: made by the call that it is, or that its only binding assigns."""
    if isinstance(node, ast.Name):
        binding = names.single_definition(node)
        statement = None if binding is None else binding.statement
        if not isinstance(statement, ast.Assign) or binding is None or binding.node not in statement.targets:
            return None
        node = statement.value
    if not isinstance(node, ast.Call):
        return None
    return _MADE_BY.get(names.qualified(node.func) or "")


def _opened_to_write(node: ast.Call) -> Reads | None:
    """WRITES for `open(path, "w")` and its like."""
    if not isinstance(node.func, ast.Name) or node.func.id != "open":
        return None
    mode = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "mode"), None)
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) & set("wax+"):
        return Reads.WRITES
    return None


def own_nodes(function: FunctionNode) -> list[ast.AST]:
    """The nodes that a call of the function itself runs, in source order: nothing inside functions and classes."""
    found: list[ast.AST] = []
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, FunctionNode | ast.ClassDef):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return found
