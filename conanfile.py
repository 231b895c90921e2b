"""Lapilli for Conan 2: `conan create .`, or a requirement lapilli/VERSION. What it stands on comes from Conan, too."""

import os
import re

from conan import ConanFile
from conan.tools.build import stdcpp_library
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Lapilli(ConanFile):
    name = "lapilli"
    description = "Portable Vulkan runtime for Transformer encoder-decoder models"
    license = "MIT"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "unicode": [True, False],
        "regex": [True, False],
        "zlib": [True, False],
        "images": [True, False],
        "webp": [True, False],
        "tiff": [True, False],
        "build_cli": [True, False],
        "fetch": [True, False],
        "markdown": [True, False],
        "audio": [True, False],
        "server": [True, False],
        "zstd": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "unicode": True,
        "regex": True,
        "zlib": True,
        "images": True,
        "webp": False,
        "tiff": False,
        "build_cli": False,
        "fetch": False,
        "markdown": False,
        "audio": False,
        "server": False,
        "zstd": False,
    }
    implements = ["auto_shared_fpic"]
    exports = "CMakeLists.txt"
    exports_sources = (
        "CMakeLists.txt",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "cmake/*",
        "docs/*",
        "include/*",
        "models/*",
        "samples/*",
        "shaders/*",
        "src/*",
    )

    def set_version(self):
        lists = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(lapilli VERSION ([0-9.]+)", lists).group(1)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("vulkan-headers/[>=1.3.204]")
        self.requires("nlohmann_json/[>=3.10 <4]")
        if self.options.images:
            self.requires("stb/[*]")
            if self.options.webp:
                self.requires("libwebp/[>=1.2 <2]")
            if self.options.tiff:
                self.requires("libtiff/[>=4.5 <5]")
        if self.options.unicode:
            self.requires("utf8proc/[>=2.7 <3]")
        if self.options.regex:
            self.requires("pcre2/[>=10.39 <11]")
        if self.options.zlib:
            self.requires("zlib/[>=1.2.11 <2]")
        if self.options.build_cli:
            self.requires("cli11/[>=2.1 <3]")
            if self.options.markdown:
                self.requires("md4c/[>=0.4.8 <1]")
            if self.options.audio:
                self.requires("libsndfile/[>=1.1 <2]")
                self.requires("libsamplerate/[>=0.2 <1]")
            if self.options.fetch:
                self.requires("libcurl/[>=7.78 <9]")
            if self.options.server:
                self.requires("boost/[>=1.74 <2]", options={"header_only": True})
            if self.options.zstd:
                self.requires("zstd/[>=1.5 <2]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.22 <4]")
        self.tool_requires("glslang/[*]")

    def generate(self):
        deps = CMakeDeps(self)
        # CMakeLists.txt looks for headers and libraries itself, in the folders that the toolchain names.
        for found in ("vulkan-headers", "nlohmann_json", "stb", "libwebp", "libtiff", "cli11", "utf8proc", "pcre2", "md4c", "libsndfile", "libsamplerate", "boost", "zstd"):
            deps.set_property(found, "cmake_find_mode", "none")
        deps.generate()
        tools = CMakeToolchain(self)
        tools.user_presets_path = False  # nothing is written into the sources
        for option in ("unicode", "regex", "zlib", "images", "webp", "tiff", "build_cli", "fetch", "markdown", "audio", "server", "zstd"):
            tools.cache_variables["LAPILLI_" + option.upper()] = bool(self.options.get_safe(option))
        tools.cache_variables["LAPILLI_BUILD_TESTS"] = False
        tools.cache_variables["LAPILLI_BUILD_SAMPLES"] = False
        tools.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["lapilli"]
        self.cpp_info.set_property("cmake_file_name", "lapilli")
        self.cpp_info.set_property("cmake_target_name", "lapilli::lapilli")
        self.cpp_info.set_property("pkg_config_name", "lapilli")
        models = os.path.join(self.package_folder, "share", "lapilli", "models").replace("\\", "/")
        self.cpp_info.defines = ['LAPILLI_MODELS_DIR="%s"' % models]
        if self.options.shared:
            self.cpp_info.defines.append("LAPILLI_SHARED")
        elif self.settings.os in ("Linux", "FreeBSD", "Android"):
            self.cpp_info.system_libs = ["dl", "m"] if self.settings.os == "Android" else ["dl", "m", "pthread"]
        # For those who link as C, which knows no C++ runtime.
        runtime = None if self.options.shared else stdcpp_library(self)
        if runtime:
            self.cpp_info.system_libs.append(runtime)
