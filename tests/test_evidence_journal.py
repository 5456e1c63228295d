"""Notes: what is written is read back, whatever happens to the process."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

from gbfix.evidence.journal import Journal, read_journal


def program(code: str, folder: Path) -> str:
    """Run code that has a journal in the folder; what it printed."""
    prelude = (
        "import os, signal, sys, threading\nfrom pathlib import Path\nfrom gbfix.evidence.journal import Journal\n"
        "journal = Journal(Path('own.jsonl'))\n"
    )
    words = [sys.executable, "-c", prelude + textwrap.dedent(code)]
    return subprocess.run(words, cwd=folder, text=True, capture_output=True, check=True).stdout


def test_notes_are_read_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "1.jsonl")
    journal.write("problem", message="first é")
    journal.write("end")
    expected = [{"kind": "problem", "message": "first é"}, {"kind": "end"}]
    assert list(read_journal(tmp_path / "1.jsonl")) == expected


def test_lines_that_are_cut_off_or_foreign_are_left_out(tmp_path: Path) -> None:
    lines = ['{"kind": "end"}', '{"kind": "of another version"}', "[1]", '{"kind": "problem", "mess']
    Path(tmp_path, "1.jsonl").write_text("\n".join(lines))
    assert list(read_journal(tmp_path / "1.jsonl")) == [{"kind": "end"}]


def test_what_cannot_be_written_is_lost_without_a_word(tmp_path: Path) -> None:
    class Unprintable:
        def __str__(self) -> str:
            raise ValueError

    journal = Journal(tmp_path / "1.jsonl")
    endless: list[object] = []
    endless.append(endless)
    journal.write("problem", message=endless)
    journal.write("problem", message={(1, 2): 3})
    journal.write("problem", message=Unprintable())
    journal.write("problem", message=Path("text"))
    assert list(read_journal(tmp_path / "1.jsonl")) == [{"kind": "problem", "message": "text"}]


def test_a_full_disk_stops_nothing() -> None:
    journal = Journal(Path("/dev/full"))
    journal.write("end")


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    program(
        """
        def write():
            for number in range(200):
                journal.write("problem", message="x" * 500)
        threads = [threading.Thread(target=write) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        """,
        tmp_path,
    )
    lines = Path(tmp_path, "own.jsonl").read_text().splitlines()
    assert len(lines) == 1600
    assert all(json.loads(line)["message"] == "x" * 500 for line in lines)


def test_a_forked_child_starts_a_file_of_its_own_with_the_same_headers(tmp_path: Path) -> None:
    child = program(
        """
        journal.write_header("process", pid=os.getpid(), rank=None)
        journal.write_header("torch", version="2.13.0")
        journal.write("end")
        silent = os.fork()
        if not silent:
            print(journal.inherited)
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(silent, 0)
        child = os.fork()
        if not child:
            journal.write("problem", message="in the child")
            journal.write("end")
            os._exit(0)
        os.waitpid(child, 0)
        journal.write("problem", message="in the parent")
        print(child)
        """,
        tmp_path,
    )
    inherited, pid = child.splitlines()
    assert inherited == "True"
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([f"{pid}.jsonl", "own.jsonl"])
    headers = [{"kind": "process", "pid": int(pid), "rank": None}, {"kind": "torch", "version": "2.13.0"}]
    assert list(read_journal(tmp_path / f"{pid}.jsonl")) == [
        *headers,
        {"kind": "problem", "message": "in the child"},
        {"kind": "end"},
    ]
    own = [note["kind"] for note in read_journal(tmp_path / "own.jsonl")]
    assert own == ["process", "torch", "end", "problem"]


def test_forking_while_other_threads_write_does_not_hang_the_child(tmp_path: Path) -> None:
    printed = program(
        """
        stop = threading.Event()
        def write():
            while not stop.is_set():
                journal.write("problem", message="x" * 5000)
        threads = [threading.Thread(target=write, daemon=True) for _ in range(2)]
        [thread.start() for thread in threads]
        for _ in range(50):
            child = os.fork()
            if not child:
                signal.alarm(10)
                journal.write("end")
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if status:
                print("hung")
        stop.set()
        [thread.join() for thread in threads]
        """,
        tmp_path,
    )
    assert printed == ""
    for file in tmp_path.iterdir():
        assert all(line.startswith("{") and line.endswith("}") for line in file.read_text().splitlines())


def test_a_signal_handler_may_write_while_its_thread_writes(tmp_path: Path) -> None:
    program(
        """
        signal.signal(signal.SIGALRM, lambda number, frame: journal.write("problem", message="in the handler"))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for _ in range(20000):
            journal.write("end")
        signal.setitimer(signal.ITIMER_REAL, 0)
        print("done")
        """,
        tmp_path,
    )
    kinds = [note["kind"] for note in read_journal(tmp_path / "own.jsonl")]
    assert kinds.count("end") > 19000
    assert "problem" in kinds


def test_a_program_that_closes_all_descriptors_gets_them_for_its_own_files(tmp_path: Path) -> None:
    program(
        """
        journal.write("problem", message="before")
        os.closerange(3, 1024)
        files = [open(f"{number}.txt", "w") for number in range(250)]
        journal.write("problem", message="after")
        os._exit(0) if os.fork() == 0 else os.wait()
        del journal
        for file in files:
            file.write("its own")
            file.close()
        """,
        tmp_path,
    )
    notes = read_journal(tmp_path / "own.jsonl")
    assert [note["message"] for note in notes] == ["before", "after"]
    assert {file.read_text() for file in tmp_path.glob("*.txt")} == {"its own"}


def test_the_program_gets_the_descriptors_that_it_would_have_had(tmp_path: Path) -> None:
    words = "print(os.open('.', os.O_RDONLY), *(os.pipe()))"
    plain = subprocess.run([sys.executable, "-c", "import os\n" + words], text=True, capture_output=True, check=True)
    assert program(words, tmp_path) == plain.stdout


def test_a_child_is_not_warned_of_the_file_of_its_parent(tmp_path: Path) -> None:
    program(
        """
        import warnings
        warnings.simplefilter("error")
        sys.unraisablehook = lambda unraisable: os._exit(1)
        child = os.fork()
        if not child:
            journal.write("end")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """,
        tmp_path,
    )


def test_what_no_encoding_has_is_read_as_its_escape(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "1.jsonl")
    journal.write("problem", message="a \udc80\\ \U0001f600")
    journal.write("problem", message={"\ud800": '"'})
    notes = list(read_journal(tmp_path / "1.jsonl"))
    assert [note["message"] for note in notes] == ["a \\udc80\\ \U0001f600", {"\\ud800": '"'}]


def test_lines_nested_too_deep_are_left_out(tmp_path: Path) -> None:
    Path(tmp_path, "1.jsonl").write_text('{"kind": "end", "x": ' + "[" * 100_000 + '\n{"kind": "end"}\n')
    assert list(read_journal(tmp_path / "1.jsonl")) == [{"kind": "end"}]
