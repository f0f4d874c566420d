"""The platform tag of a wheel that carries the program: which systems it runs on, found in what it holds."""
import pathlib

# The libraries of glibc. All others that the files need must lie beside the files.
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libresolv.so.2", "libutil.so.1",
         "libanl.so.1", "libmvec.so.1"}


def platform_tag(tree):
    """Such as "manylinux_2_35_x86_64": the oldest systems that have every version of a symbol that a file of `tree`
    needs, of glibc, and of libstdc++, libgcc and zlib, which the program takes from the system where it has them.

    auditwheel knows which systems have which versions, and which libraries all of them have: copies of these in
    `otherwise` are for other systems, and are not counted. Raises SystemExit where no tag would be true.
    """
    try:
        from auditwheel.architecture import Architecture
        from auditwheel.elfutils import elf_find_versioned_symbols
        from auditwheel.libc import Libc
        from auditwheel.policy import WheelPolicies
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise SystemExit("a wheel with the program needs auditwheel: pip install auditwheel, and build it with "
                         f"--no-build-isolation ({error})")
    policies = WheelPolicies(libc=Libc.GLIBC, arch=Architecture.detect())
    everywhere = max((policy.whitelist for policy in policies), key=len)
    versions, needed, held, left_out = {}, {}, set(), set()
    for path in sorted(pathlib.Path(tree).rglob("*")):
        if not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
            elf = ELFFile(file)
            held.add(path.name)
            if path.parent.name == "otherwise" and path.name in everywhere:
                left_out.add(path.name)
                continue
            for library, version in elf_find_versioned_symbols(elf):
                versions.setdefault(library, set()).add(version)
                if version == "GLIBC_PRIVATE":
                    raise SystemExit(f"{path} needs {version} of {library}: it runs with one version of glibc only")
            dynamic = elf.get_section_by_name(".dynamic")
            for tag in dynamic.iter_tags("DT_NEEDED") if dynamic else ():
                needed.setdefault(tag.needed, path)
    for library, path in needed.items():
        if library not in held | GLIBC and not library.startswith("ld-linux"):
            raise SystemExit(f"{path} needs {library}, which is not in {tree}")
    policy = policies.versioned_symbols_policy(versions)
    if not policy.name.startswith("manylinux") or not left_out <= policy.whitelist:
        newest = sorted(version for of_library in versions.values() for version in of_library
                        if version.startswith(("GLIBC", "CXXABI", "GCC")))
        raise SystemExit(f"no system that auditwheel knows has all of {', '.join(newest)}")
    return policy.name
