"""Guards that failed, from the text of a recompile reason as torch 2.6 to 2.14 write it.

Checks of tensors come from C++ ("tensor 'x' size mismatch at index 0. expected 2, actual 3"), all others are Python
expressions, with the line of source that asked for the guard in a comment and, since 2.11, its stack. 2.6 writes
locals as L['x'], later versions as x.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gbfix.evidence.stack import StackFrame, read_stack

_COMPILE_ID = re.compile(r"^(?P<id>!?\d+(?:/\d+)+): ?")
_USER_STACK = "User stack trace:"
_COMMENT = re.compile(r"\s{2,}# (?P<comment>.*)$", re.S)
_ORIGIN = re.compile(r"# (?P<file>\S[^#\n]*?\.pyx?|<[^>]+>):(?P<line>\d+) in (?P<function>[^\s(]+)")
_TENSOR = re.compile(
    r"^tensor '(?P<name>.+?)' (?P<what>[Ta-z_ ]+?) mismatch(?: at index (?P<index>\d+))?\."
    r"(?: [Ee]xpected (?:device index to be )?(?P<expected>.*?))?(?:, actual (?P<actual>.*?))?$",
    re.S,
)
_TENSOR_KINDS = ("size", "rank", "stride")
_TYPE = re.compile(r"^expected type of '(?P<name>.+?)' to be (?P<expected>.*?), '? ?but found (?P<actual>.*?)$", re.S)
_GLOBAL_STATE = re.compile(r"^GLOBAL_STATE changed: (?P<what>.*)$")
_GLOBAL_STATE_CALLS = (
    "___check_global_state",
    "___check_torch_function_mode_stack",
    "torch._functorch",
    "utils_device.",
)
_DUPLICATE = re.compile(r"^Duplicate tensors? found[^:]*:? *(?P<names>.*)$")
_CHECK = re.compile(
    r"^\(?(?P<check>___check_obj_id|___check_type_id|___check_type_id_verbose)\((?P<name>.+?), \d+\)"
    r"(?:, type=(?P<type>.*))?$"
)
_OBJECT_ID = re.compile(r"(___check_(?:obj|type)_id\(.+?), \d+\)")  # of one process, and of no use to anybody
_NAN = re.compile(r"^\(?type\((?P<name>.+?)\) is (?:float|complex) and .*isnan")
_LENGTH = re.compile(r"^(?:len\((?P<name>.+)\) (?P<operator>==|!=) (?P<value>\d+)|(?:not )(?P<empty>[\w.\[\]'\"]+))$")
_KEYS = re.compile(
    r"^(?:list\((?:dict\.)?keys\((?P<keys>.+?)\)\)\[\d+\]|list\((?P<method>.+?)\.keys\(\)\)\[?.*?"
    r"|(?:not )?(?:___dict_contains|set\.__contains__|dict\.__contains__)\((?P<contains>.+)\))"
    r" ?(?:(?:==|!=) (?P<key>.+))?$"
)
_IS = re.compile(r"^(?P<left>.+?) is (?P<negation>not )?(?P<right>.+)$")
_HAS = re.compile(r"^(?:not )?hasattr\((?P<name>.+), '(?P<attribute>\w+)'\)$")
_EQUAL = re.compile(r"^(?P<name>[^=<>!%]+?) == (?P<value>.+)$")
_SHAPE = re.compile(r"\.(?:size|stride)\(\)\[|\.storage_offset\(\)|\bEq\(|\bNe\(|\bMod\(")
_COMPARES = re.compile(r"<|>|!=|%|//| and | or ")
_LOCAL = re.compile(r"\bL\['(\w+)'\]")
_GLOBAL = re.compile(r"\bG\['(\w+)'\]")
_CHILD = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]|\.__dict__\['([^']+)'\]")
_ROOT = re.compile(r"[A-Za-z_]\w*")
_SIZED = re.compile(r"(?P<name>[A-Za-z_][\w.\[\]']*?)\.(?:size|stride|storage_offset)\(")
_FIRST_NAME = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_][\w.\[\]']*)(?![\w(])")
_DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}
_CONSTANT = re.compile(r"^(?:[-+\d.]|'|\"|True\b|False\b|None\b|\(|\[|\{|b'|b\"|inf\b|nan\b|float\(|torch\.)")


@dataclass(frozen=True)
class Guard:
    """One check that failed. expected: what the cached graph was made for; actual: what came, where the text says so.

    index: the dimension of a size or stride. stack: the user's frames that led to the guard, since torch 2.11.
    comment_origin: file (its first characters may be missing), line and function from the comment of the guard.
    local: the name of the local variable that the check starts from, empty for a global or when it is not known.
    """

    text: str
    kind: str = "other"
    source_name: str = ""
    index: int | None = None
    expected: str = ""
    actual: str = ""
    local: str = ""
    stack: tuple[StackFrame, ...] = ()
    comment_origin: StackFrame | None = None


def read_guard(reason: str) -> Guard:
    """The guard in the reason for one recompilation."""
    body, _, stack = _COMPILE_ID.sub("", reason.strip(), count=1).partition(_USER_STACK)
    comment = _COMMENT.search(body)
    check = (body[: comment.start()] if comment else body).strip()
    origin = _ORIGIN.search(comment[0]) if comment else None
    place = StackFrame(origin["file"], int(origin["line"]), origin["function"]) if origin else None
    kind, name, index, expected, actual = _classify(check)
    readable = source_name(name)
    starts_local = kind != "global_state" and "G[" not in name and (root := _ROOT.match(readable)) is not None
    return Guard(
        _OBJECT_ID.sub(r"\1)", _readable(check)),
        kind,
        readable,
        index,
        expected.strip(),
        actual.strip(),
        root[0] if starts_local and root else "",
        read_stack(stack),
        place,
    )


def source_name(text: str) -> str:
    """The value that a guard looks at, as a user would write it: self.blocks[0].step, or the name of a global."""
    return _CHILD.sub(_child, _readable(text)).strip()


def _readable(text: str) -> str:
    return _GLOBAL.sub(r"\1", _LOCAL.sub(r"\1", text))


def _child(found: re.Match[str]) -> str:
    name = found[1] or found[2]
    return f".{name}" if name.isidentifier() else f"[{name}]" if name.isdigit() else f"['{name}']"


_Parts = tuple[str, str, int | None, str, str]


def _classify(check: str) -> _Parts:
    for classify in (_of_tensor, _of_state, _of_identity, _of_container, _of_expression):
        if (parts := classify(check)) is not None:
            return parts
    return ("other", "", None, "", "")


def _of_tensor(check: str) -> _Parts | None:
    if found := _TENSOR.match(check):
        what, expected, actual = found["what"], found["expected"] or "", found["actual"] or ""
        index = int(found["index"]) if found["index"] else None
        if what == "requires_grad":
            was = expected.rpartition("=")[2].strip() == "1"
            return ("requires_grad", found["name"], None, str(was), str(not was))
        if what == "dtype":
            return ("dtype", found["name"], None, _DTYPES.get(expected, expected), _DTYPES.get(actual, actual))
        if what in _TENSOR_KINDS:
            return (what, found["name"], index, expected, actual)
        if what.startswith("Tensor device"):
            return ("device", found["name"], None, expected, actual)
        return _of_dispatch_keys(found["name"], expected, actual)
    if found := _TYPE.match(check):
        return ("type", found["name"], None, _class(found["expected"]), _class(found["actual"]))
    return None


def _of_dispatch_keys(name: str, expected: str, actual: str) -> _Parts:
    """Another device has other first keys; the rest, such as inference mode, are properties of the tensor's type."""
    before, after = _keys(expected), _keys(actual)
    if before and after and before[0] != after[0]:
        return ("device", name, None, before[0], after[0])
    gone = [key for key in before if key not in after]
    new = [key for key in after if key not in before]
    return ("type", name, None, " ".join(gone), " ".join(new))


def _keys(text: str) -> list[str]:
    return text.partition("(")[2].rstrip(". ").removesuffix(")").split(", ")


def _of_state(check: str) -> _Parts | None:
    if found := _GLOBAL_STATE.match(check):
        return ("global_state", found["what"].strip(), None, "", "")
    if check.startswith(_GLOBAL_STATE_CALLS):
        return ("global_state", "", None, "", "")
    if found := _DUPLICATE.match(check):
        return ("aliasing", found["names"].strip('[]"').replace('"', ""), None, "", "")
    return None


def _of_identity(check: str) -> _Parts | None:
    if found := _CHECK.match(check):
        kind = "identity" if found["check"] == "___check_obj_id" else "type"
        return (kind, found["name"], None, _class(found["type"] or ""), "")
    if found := _HAS.match(check):
        return ("type", found["name"], None, "", "")
    if found := _NAN.match(check):
        return ("value", found["name"], None, "nan", "")
    if "invalidated because" in check or "got deallocated" in check:
        name = check.partition("because ")[2].partition(" got")[0].removeprefix("weakref to ").strip("'")
        return ("identity", name, None, "", "")
    if check.startswith(("BACKEND_MATCH", "Unexpected recompilation")) or " is " not in check:
        return None
    found = _IS.match(check)
    if found is None or found["right"] == "None":
        return ("type", found["left"], None, "something" if found["negation"] else "None", "") if found else None
    return ("aliasing", f"{found['left']}, {found['right']}", None, "", "")


def _of_container(check: str) -> _Parts | None:
    if found := _LENGTH.match(check):
        expected = found["value"] if found["operator"] == "==" else ""
        return ("length", found["name"] or found["empty"], None, expected or ("0" if found["empty"] else ""), "")
    if found := _KEYS.match(check):
        if found["contains"]:
            first, _, second = found["contains"].rpartition(", ")
            key, name = (first, second) if first.startswith(("'", '"')) else (second, first)
            return ("keys", name, None, key, "")
        return ("keys", found["keys"] or found["method"], None, found["key"] or "", "")
    return None


def _of_expression(check: str) -> _Parts | None:
    if check.startswith(("BACKEND_MATCH", "Unexpected recompilation")):
        return ("other", "", None, "", "")
    equal = _EQUAL.match(check)
    if equal and not _SHAPE.search(check) and _CONSTANT.match(equal["value"]):
        name = re.sub(r"^(?:str|int|float|bool)\((.+)\)$", r"\1", equal["name"].strip())
        return ("value", name, None, equal["value"], "")
    if _SHAPE.search(check) or _COMPARES.search(check) or equal:
        sized = _SIZED.search(check) or _FIRST_NAME.search(check)
        return ("shape_expression", sized["name"] if sized else "", None, "", "")
    return None


def _class(text: str) -> str:
    found = re.match(r"^<class '(.+)'>$", text.strip())
    return found[1] if found else text.strip()
