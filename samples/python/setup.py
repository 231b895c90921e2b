"""Builds the wheel: the module, with the shared library and the bundled model inside. LAPILLI_LIBRARY names a library
that is built already; otherwise CMake builds one. LAPILLI_SOURCE is Lapilli's folder, where the sample was copied away
from it."""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("LAPILLI_SOURCE", HERE.parents[1]))


def version():
    return re.search(r"project\(lapilli VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)


def library(folder):
    """The shared library: the given one, or built in `folder`."""
    given = os.environ.get("LAPILLI_LIBRARY")
    if given:
        return pathlib.Path(given)
    off = [f"-DLAPILLI_BUILD_{part}=OFF" for part in ("CLI", "TESTS", "SAMPLES")]
    kind = ["-DBUILD_SHARED_LIBS=ON", "-DCMAKE_BUILD_TYPE=Release"]
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, *kind, *off], check=True)
    subprocess.run(["cmake", "--build", folder, "--config", "Release", "--parallel", "--target", "lapilli"], check=True)
    names = ("liblapilli.so", "liblapilli.dylib", "Release/lapilli.dll", "lapilli.dll", "liblapilli.dll")
    return next(folder / name for name in names if (folder / name).exists())


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "lapilli"
        built = library(pathlib.Path(self.build_lib).resolve().parent / "cmake")
        suffix = built.resolve().name.split(".", 1)[1].split(".")[0]
        shutil.copyfile(built, package / ("lapilli.dll" if suffix == "dll" else f"liblapilli.{suffix}"))
        shutil.copytree(SOURCE / "models/en-fr", package / "models/en-fr", dirs_exist_ok=True)


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


setup(version=version(), distclass=WithBinary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
