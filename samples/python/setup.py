"""Builds the wheel: the module, with the shared library and the bundled model inside. Where Lapilli's sources are, two folders
above or where LAPILLI_SOURCE says, CMake builds the library; elsewhere that of an installed Lapilli is taken. LAPILLI_LIBRARY
names a library that is built already."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
GIVEN = os.environ.get("LAPILLI_LIBRARY")
MODEL = "models/en-fr"


class Sources:
    """Lapilli's own folder."""

    def __init__(self, folder):
        self.folder, self.model, self.version = folder, folder / MODEL, self.version_of(folder)

    @staticmethod
    def version_of(folder):
        """None: what is there are no sources of Lapilli."""
        lists = folder / "CMakeLists.txt"
        found = lists.exists() and re.search(r"project\(lapilli VERSION ([0-9.]+)", lists.read_text(encoding="utf-8"))
        return found.group(1) if found else None

    def library(self, folder):
        """The shared library: the given one, or built in `folder`."""
        if GIVEN:
            return pathlib.Path(GIVEN)
        off = [f"-DLAPILLI_BUILD_{part}=OFF" for part in ("CLI", "TESTS", "SAMPLES")]
        kind = ["-DBUILD_SHARED_LIBS=ON", "-DCMAKE_BUILD_TYPE=Release"]
        subprocess.run(["cmake", "-S", self.folder, "-B", folder, *kind, *off], check=True)
        build = ["cmake", "--build", folder, "--config", "Release", "--parallel", "--target", "lapilli"]
        subprocess.run(build, check=True)
        names = ("liblapilli.so", "liblapilli.dylib", "Release/lapilli.dll", "lapilli.dll", "liblapilli.dll")
        return next(folder / name for name in names if (folder / name).exists())


class Installed:
    """What `cmake --install` or a package left: the given library, or else the one of the prefix that this sample is installed
    in, that pkg-config knows, or that is usual."""

    def __init__(self):
        prefixes = self._prefixes()
        patterns = ("lib*/liblapilli.so", "lib/*/liblapilli.so", "lib/liblapilli.dylib", "bin/*lapilli.dll")
        found = [path for prefix in prefixes for pattern in patterns for path in sorted(prefix.glob(pattern))]
        self._library = pathlib.Path(GIVEN) if GIVEN else next(iter(found), None)
        if not self._library:
            sys.exit(
                "no shared Lapilli was found: install one (cmake -DBUILD_SHARED_LIBS=ON), say where its .pc file is with "
                "PKG_CONFIG_PATH, or name the library with LAPILLI_LIBRARY, or Lapilli's sources with LAPILLI_SOURCE"
            )
        models = [prefix / "share/lapilli" / MODEL for prefix in [*self._library.resolve().parents, *prefixes]]
        self.model = next((model for model in models if model.is_dir()), None)
        if not self.model:
            sys.exit(f"{self._library} has no share/lapilli/{MODEL} above it: name Lapilli's sources with LAPILLI_SOURCE")
        loaded = ctypes.CDLL(str(self._library.resolve()))
        loaded.lapilli_version.restype = ctypes.c_char_p
        self.version = loaded.lapilli_version().decode()

    @staticmethod
    def _prefixes():
        prefixes = [HERE.parents[4]] if HERE.match("share/doc/lapilli/samples/python") else []
        if shutil.which("pkg-config"):
            asked = ["pkg-config", "--variable=prefix", "lapilli"]
            said = subprocess.run(asked, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
            prefixes += [pathlib.Path(said.strip())] if said.strip() else []
        return [*prefixes, pathlib.Path("/usr/local"), pathlib.Path("/usr")]

    def library(self, _folder):
        return self._library


def lapilli():
    source = os.environ.get("LAPILLI_SOURCE")
    folder = pathlib.Path(source) if source else HERE.parents[1]
    if Sources.version_of(folder):
        return Sources(folder)
    return sys.exit(f"LAPILLI_SOURCE is {source}, where no sources of Lapilli are") if source else Installed()


LAPILLI = lapilli()


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "lapilli"
        built = LAPILLI.library(pathlib.Path(self.build_lib).resolve().parent / "cmake")
        suffix = built.resolve().name.split(".", 1)[1].split(".")[0]
        shutil.copyfile(built, package / ("lapilli.dll" if suffix == "dll" else f"liblapilli.{suffix}"))
        shutil.copytree(LAPILLI.model, package / MODEL, dirs_exist_ok=True)


class PlatformWheel(bdist_wheel):
    """For this system, and any Python 3: the module knows nothing of Python's own interface."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class WithBinary(Distribution):
    def has_ext_modules(self):
        return True


setup(
    version=LAPILLI.version,
    distclass=WithBinary,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
)
