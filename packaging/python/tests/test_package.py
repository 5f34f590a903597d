# SPDX-License-Identifier: Apache-2.0
"""The package's files: its structures against the header, its generated files, its README's programs, and its wheel."""
import ctypes
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import venv
import zipfile

import pytest
import rainkit
from conftest import python, wait_until
from rainkit import _library

STRUCTURES = {
    "rainkit_string": _library.String,
    "rainkit_client_options": _library.ClientOptions,
    "rainkit_provision_options": _library.ProvisionOptions,
    "rainkit_claim_options": _library.ClaimOptions,
    "rainkit_event": _library.RawEvent,
}
ENUMERATIONS = {
    "STORE": _library.Store,
    "LOG": _library.LogLevel,
    "EVENT": _library.EventKind,
    "SCHEDULE": _library.ScheduleChange,
}


@pytest.fixture(scope="module")
def header(package):
    return package.parent.parent / "Sources/CRainKit/include/rainkit.h"


def test_structures_and_numbers_are_those_of_the_header(header, tmp_path):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    lines = ["#include <stdio.h>", "#include <rainkit.h>", "int main(void) {"]
    structures = re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.S)
    for name, body in structures:
        lines.append(f'printf("%s - %zu\\n", "{name}", sizeof({name}));')
        for member in re.findall(r"(\w+);", body):
            lines.append(
                f'printf("%s %s %zu %zu\\n", "{name}", "{member}", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));')
    numbers = re.findall(r"^\s*(?:enum \{ )?(RAINKIT_\w+) = \d+", text, re.M) + re.findall(r", (RAINKIT_\w+) = \d+", text)
    numbers = sorted({*numbers, *re.findall(r"\b(RAINKIT_\w+) = ", text)})
    for name in [*numbers, "RAINKIT_ABI_VERSION"]:
        lines.append(f'printf("%s = %d\\n", "{name}", (int){name});')
    source = tmp_path / "layout.c"
    source.write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run(["gcc", "-Wall", "-Werror", f"-I{header.parent}", source, "-o", tmp_path / "layout"], check=True)
    printed = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout

    ours = []
    for name, structure in STRUCTURES.items():
        ours.append(f"{name} - {ctypes.sizeof(structure)}")
        for member, _ in structure._fields_:
            field = getattr(structure, member)
            ours.append(f"{name} {member} {field.offset} {field.size}")
    for prefix, enumeration in ENUMERATIONS.items():
        ours += [f"RAINKIT_{prefix}_{value.name} = {value.value}" for value in enumeration]
    ours += [f"RAINKIT_{code.name} = {code.value}" for code in rainkit.Code]
    ours += ["RAINKIT_OK = 0", f"RAINKIT_ABI_VERSION = {_library.ABI_VERSION}"]
    assert len(structures) == len(STRUCTURES) and sorted(ours) == sorted(printed.splitlines())


def test_functions_are_those_of_the_header(header):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    declared = {}
    for result, name, arguments in re.findall(r"^(\w+) (rainkit_\w+)\(([^;{]*?)\);", text, re.M | re.S):
        kinds = [re.sub(r"\s*\w+$", "", one.strip()) for one in arguments.split(",")]
        declared[name] = (result, [] if arguments == "void" else kinds)

    kinds = {
        "rainkit_string": _library.String, "uint32_t": ctypes.c_uint32, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64,
        "int": ctypes.c_int, "size_t": ctypes.c_size_t, "rainkit_client *": ctypes.c_void_p, "rainkit_operation *": ctypes.c_void_p,
        "rainkit_client **": ctypes.POINTER(ctypes.c_void_p), "rainkit_operation **": ctypes.POINTER(ctypes.c_void_p),
        "rainkit_event *": ctypes.POINTER(_library.RawEvent), "size_t *": ctypes.POINTER(ctypes.c_size_t),
        "const rainkit_client_options *": ctypes.POINTER(_library.ClientOptions),
        "const rainkit_provision_options *": ctypes.POINTER(_library.ProvisionOptions),
        "const rainkit_claim_options *": ctypes.POINTER(_library.ClaimOptions),
    }
    texts = (ctypes.c_char_p, ctypes.POINTER(ctypes.c_char))
    loaded = _library.library()
    assert set(declared) == {*_library.STARTS, *_library.OTHERS}
    for name, (result, arguments) in declared.items():
        function = getattr(loaded, name)
        assert function.restype is kinds[result], name
        assert len(function.argtypes) == len(arguments), name
        for ours, theirs in zip(function.argtypes, arguments):
            assert ours in texts if theirs == "char *" else ours is kinds[theirs], (name, theirs)
    assert [loaded.rainkit_code_name(code).text for code in rainkit.Code] == [code.name.lower() for code in rainkit.Code]


def test_generated_files_are_up_to_date(package):
    subprocess.run([sys.executable, package / "generate", "--check"], check=True)


def test_both_clients_have_the_same_methods():
    def methods(kind):
        found = {name: value for name, value in vars(kind).items() if callable(value) and not name.startswith("_")}
        return {name: list(inspect.signature(value).parameters.values()) for name, value in found.items()}

    assert methods(rainkit.Client) == methods(rainkit.SyncClient)
    assert all(value.__doc__ for kind in (rainkit.Client, rainkit.SyncClient) for value in vars(kind).values() if inspect.isfunction(value) and not value.__name__.startswith("_"))


def programs(package):
    return re.findall(r"```python\n(.*?)```", (package / "README.md").read_text(), re.S)


def fitted(program, scene, **replaced):
    """Replaces the values that a reader of the README replaces."""
    for example, ours in {
        '"me@example.com"': repr(scene.cloud.user), '"my password"': repr(scene.cloud.password),
        ") as client": f", base_url={scene.cloud.api!r}, deployment='sim') as client", **replaced,
    }.items():
        assert example in program, example
        program = program.replace(example, ours).replace("(, ", "(")
    return program


def test_first_program_of_the_readme(scene, package):
    board = scene.board("node-1")
    first = programs(package)[0]
    assert len(first.splitlines()) <= 12
    program = fitted(first, scene, **{'"serial:/dev/ttyUSB0"': repr(board.address)})
    with python(program) as child:
        lines = child.stdout.read().splitlines()
        assert child.wait() == 0
    assert lines[-1] == "node-1" and "confirm finished" in lines


def test_gateway_of_the_readme(scene, package, tmp_path):
    gateway = programs(package)[1]
    assert len(gateway.splitlines()) <= 27
    # The user's home and desktop are those of the test.
    environment = {"HOME": str(tmp_path), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/none"}
    with scene.sync_client() as client:
        client.sign_in(*scene.credentials).wait()
        for node, name in (("node-1", "Switch"), ("node-2", "Lamp")):
            client.provision(scene.board(node).address, name=name, **scene.network()).wait()
            outcome = client.set(name, {"Light": {"Power": False}}, wait=30)
            assert outcome["nodes"][0]["state"] == "reported"
        with python(fitted(gateway, scene), **environment) as child:
            assert child.stdout.readline() == "watching\n"
            client.set("Switch", {"Light": {"Power": True}}, wait=30)
            assert child.stdout.readline() == "Switch is on\n"
            wait_until(lambda: client.get("Lamp")["params"]["Light"]["Power"] is True)
        # The session is kept: the second start signs in without a password.
        signed_in = len(scene.cloud.journal(event="request", path="/v1/login2"))
        with python(fitted(gateway, scene), **environment) as child:
            assert child.stdout.readline() == "watching\n"
        assert len(scene.cloud.journal(event="request", path="/v1/login2")) == signed_in


def test_wheel(package, tmp_path):
    # Without debug information, it is packed in seconds.
    library = tmp_path / "librainkit.so.1"
    subprocess.run(["strip", "-o", library, os.environ["RAINKIT_LIBRARY"]], check=True)
    built = subprocess.run(
        [sys.executable, package / "build-wheel", library, tmp_path], check=True, capture_output=True, text=True)
    wheel = pathlib.Path(built.stdout.splitlines()[0])
    assert re.fullmatch(r"rainkit-[0-9.]+-py3-none-(manylinux_\d+_\d+|linux)_\w+\.whl", wheel.name)
    assert "libc.so.6" in built.stdout
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert {"rainkit/py.typed", "rainkit/librainkit.so.1", "rainkit/__init__.py"} <= set(names)
    # pip checks the record. The library inside comes before the one that the environment names.
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel],
        check=True)
    program = "import json, rainkit; from rainkit._library import library; print(json.dumps([library()._name, rainkit.library_version()]))"
    environment = {**os.environ, "RAINKIT_LIBRARY": "/missing", "LD_LIBRARY_PATH": os.path.dirname(os.environ["RAINKIT_LIBRARY"])}
    environment.pop("PYTHONPATH")
    ran = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True, env=environment, cwd=tmp_path)
    path, version = json.loads(ran.stdout)
    assert path.endswith("site-packages/rainkit/librainkit.so.1") and wheel.name.startswith(f"rainkit-{version}-")


def test_a_missing_library_is_an_error(tmp_path):
    program = "import rainkit\ntry: rainkit.Client()\nexcept rainkit.Error as error: print(error.code.name, error.reason)"
    environment = {**os.environ, "RAINKIT_LIBRARY": "/missing/librainkit.so.1"}
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert ran.stdout == "UNAVAILABLE no_library\n"
