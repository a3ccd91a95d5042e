"""The ways out of a sandbox that are tried, as a table: what each is called, and the body of a function that takes it.

A body returns whether it got out; an OSError or a MemoryError is a refusal. `outside` says that the same body does get out
when a plain user runs it without a sandbox, which shows that it tries what it says; it is False where that takes root, would do
harm, or depends on the machine. `says` is a word of the note with which the script is to be ended, for those that go on until
they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

PRELUDE = '''
import ctypes, errno, fcntl, json, mmap, os, platform, resource, signal, socket, subprocess, sys, threading, time
facts = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"

def call(x86, arm, *arguments):
    """A system call by its number on both machines: what it returned, an OSError where that was a failure."""
    number = x86 if X86 else arm
    if number is None:
        raise OSError("no such call here")
    whole = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return checked(libc.syscall(number, *whole))

def checked(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def holds_secret(path):
    with open(path, "rb") as file:
        return facts["secret"].encode() in file.read()

def writes(path, mode="w"):
    with open(path, mode) as file:
        file.write("out")
    return True

def connects(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as out:
        out.settimeout(1)
        out.connect(tuple(address) if isinstance(address, list) else address)
        out.send(b"out")
    return True

def opens(*families):
    for family in families:
        for kind in (1, 2, 3, 5):
            try:
                socket.socket(family, kind).close()
                return True
            except OSError:
                pass
    return False

def any_of(*tries):
    for each in tries:
        try:
            if each():
                return True
        except OSError:
            pass
    return False

def above(limit, start):
    """Whether more than `limit` can be started, one after the other."""
    count = 0
    try:
        while count <= limit:
            start()
            count += 1
    except (OSError, RuntimeError):
        pass
    return count > limit

def child():
    if os.fork() == 0:
        signal.pause()

def filled(folder, limit):
    block, size = b"x" * 1048576, 0
    with open(folder + "/fill", "wb", buffering=0) as file:
        while size <= limit:
            size += file.write(block)
    return True

def way_out():
'''
POSTLUDE = """
try:
    print("ESCAPED" if way_out() else "HELD")
except (OSError, MemoryError, ValueError) as error:
    print("HELD", error)
sys.stdout.flush()
os._exit(0)
"""


@dataclass(frozen=True, slots=True)
class WayOut:
    name: str
    body: str
    outside: bool = True
    says: str = ""
    is_shell: bool = False

    @property
    def script(self) -> str:
        return "way.sh" if self.is_shell else "way.py"

    @property
    def text(self) -> str:
        if self.is_shell:
            return self.body
        lines = [f"    {line}" for line in self.body.strip().splitlines()]
        return PRELUDE + "\n".join(lines) + "\n" + POSTLUDE


def _table(**bodies: str) -> Iterator[WayOut]:
    return (WayOut(name, body) for name, body in bodies.items())


def _inside_only(**bodies: str) -> Iterator[WayOut]:
    return (WayOut(name, body, outside=False) for name, body in bodies.items())


def _shell(**bodies: str) -> Iterator[WayOut]:
    return (WayOut(name, body, outside=False, is_shell=True) for name, body in bodies.items())


def _ended(says: str, **bodies: str) -> Iterator[WayOut]:
    return (WayOut(name, body, outside=False, says=says) for name, body in bodies.items())


ENVIRONMENT = [
    *_table(
        environment_variables="return any(facts['secret'] in value for value in os.environ.values())",
        environment_of_the_bot="return holds_secret(f'/proc/{facts[\"bot\"]}/environ')",
        environment_of_a_child="return facts['secret'] in subprocess.run(['env'], capture_output=True, text=True).stdout",
        environment_beyond_the_known="return len(os.environ) > 6",
    ),
    *_inside_only(
        environment_of_the_parent="return holds_secret(f'/proc/{os.getppid()}/environ')",
        environment_of_the_first_process="return len(open('/proc/1/environ').read()) >= 0",
        secrets_in_own_memory="""
end = ctypes.addressof(ctypes.c_char_p.in_dll(libc, 'environ'))
return facts['secret'].encode() in ctypes.string_at(ctypes.c_char_p.in_dll(libc, 'environ'), 256) and end""",
    ),
    *_shell(environment_in_a_shell="env | grep -q canary && echo ESCAPED || echo HELD"),
]

PROC = [
    *_table(
        proc="return bool(os.listdir('/proc'))",
        mounts_of_the_host="return bool(open('/proc/self/mountinfo').read())",
        processes_of_the_host="return os.path.exists(f'/proc/{facts[\"bot\"]}')",
        root_of_a_process="return os.path.exists('/proc/self/root/etc/passwd')",
        open_files_by_proc="return bool(os.listdir('/proc/self/fd'))",
        command_lines="return bool(open(f'/proc/{facts[\"bot\"]}/cmdline').read())",
        sys="return bool(os.listdir('/sys'))",
        kernel_settings="return os.path.exists('/proc/sys/kernel/core_pattern')",
        cgroups="return os.path.exists('/sys/fs/cgroup')",
    ),
    *_inside_only(
        sysrq="return writes('/proc/sysrq-trigger')",
        kernel_memory="return bool(open('/proc/kcore', 'rb').read(1))",
        a_proc_of_its_own="return checked(libc.mount(b'proc', b'/tmp', b'proc', 0, None)) == 0",
        a_sys_of_its_own="return checked(libc.mount(b'sysfs', b'/tmp', b'sysfs', 0, None)) == 0",
    ),
]

DESCRIPTORS = [
    *_table(
        inherited_file="return facts['secret'].encode() in os.pread(facts['descriptor'], 100, 0)",
        any_descriptor="""
def is_open(fd):
    os.fstat(fd)
    return True
return any_of(*(lambda fd=fd: is_open(fd) for fd in range(3, 1024)))""",
        descriptor_of_the_bot="return call(434, 434, facts['bot'], 0) >= 0",
        descriptor_in_memory="return call(319, 279, b'x', 0) >= 0",
    ),
    *_inside_only(
        terminal_on_the_standard_three="return any(map(os.isatty, (0, 1, 2)))",
        descriptor_taken_from_the_bot="return call(438, 438, 0, 1, 0) >= 0",
    ),
]

NETWORK = [
    *_table(
        tcp_on_loopback="return connects(socket.AF_INET, facts['tcp'])",
        tcp_6_on_loopback="return connects(socket.AF_INET6, facts['tcp6'])",
        udp_on_loopback="return connects(socket.AF_INET, facts['tcp'], socket.SOCK_DGRAM)",
        unix_socket_by_path="return connects(socket.AF_UNIX, facts['unix'])",
        unix_socket_by_name="return connects(socket.AF_UNIX, facts['abstract'])",
        unix_datagram="return opens(socket.AF_UNIX)",
        netlink="return opens(16)",
        kernel_crypto="return any_of(lambda: opens(38), lambda: opens(16))",
        every_family="return opens(*range(46))",
        listening="""
with socket.socket() as server:
    server.bind(('0.0.0.0', 0))
    server.listen()
return True""",
        tcp_by_a_raw_call="return call(41, 198, 2, 1, 0) >= 0",
        local_names="return bool(socket.getaddrinfo('localhost', 80, type=1)) and opens(2)",
        binding_one_of_a_pair="""
one, other = socket.socketpair()
one.bind(chr(0) + 'sandbox-' + str(os.getpid()))
return True""",
    ),
    *_inside_only(
        packets="return opens(17)",
        vsock="return opens(40)",
        bluetooth="return opens(31)",
        can_bus="return opens(29)",
        tipc="return opens(30)",
        express_data_path="return opens(44)",
        raw_icmp="return bool(socket.socket(2, 3, 1))",
        ping="return bool(socket.socket(2, 2, 1))",
        cloud_metadata="return connects(socket.AF_INET, ['169.254.169.254', 80])",
        internet="return connects(socket.AF_INET, ['192.0.2.1', 443])",
        pair_of_another_family="return call(53, 199, 30, 1, 0, ctypes.create_string_buffer(8)) >= 0",
        ring_that_makes_sockets="return call(425, 425, 8, ctypes.create_string_buffer(120)) >= 0",
        socket_by_the_third_abi="return call(0x40000000 | 41, None, 2, 1, 0) >= 0",
        new_network_for_itself="return checked(libc.unshare(0x40000000)) == 0",
    ),
    *_shell(
        network_in_a_shell="(exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && echo ESCAPED || echo HELD",
        fetch_programs="timeout 2 curl -s http://127.0.0.1 || timeout 2 wget -qO- http://127.0.0.1 || timeout 2 nc -z 127.0.0.1 22 && echo ESCAPED || echo HELD",
    ),
]

MOUNTS = [
    *_inside_only(
        mount_of_memory="return checked(libc.mount(b'tmpfs', b'/workspace', b'tmpfs', 0, None)) == 0",
        remount_for_writing="return checked(libc.mount(None, b'/usr/bin', None, 32 | 4096, None)) == 0",
        root_made_writable="return checked(libc.mount(None, b'/', None, 32 | 4096, None)) == 0",
        bind_of_the_root="return checked(libc.mount(b'/', b'/workspace', None, 4096, None)) == 0",
        unmount="return checked(libc.umount2(b'/usr/bin', 2)) == 0",
        unmount_of_tmp="return checked(libc.umount2(b'/tmp', 2)) == 0",
        another_root="return checked(libc.syscall(155 if X86 else 41, b'/tmp', b'/tmp')) == 0",
        change_of_root="os.chroot('/tmp'); return True",
        new_mount_calls="return any_of(*(lambda n=n: call(n, n, 0, b'/', 0, 0, 0) >= 0 for n in (428, 429, 430, 431, 432, 433, 442, 467)))",
        file_by_handle="return call(304, 265, -100, ctypes.create_string_buffer(64), 0) >= 0",
        overlay="return checked(libc.mount(b'overlay', b'/tmp', b'overlay', 0, b'lowerdir=/,upperdir=/tmp,workdir=/tmp')) == 0",
    ),
    *_table(
        handle_of_a_file="""
handle = (ctypes.c_uint * 40)(128)
return call(303, 264, -100, b'/usr', handle, ctypes.byref(ctypes.c_int()), 0) >= 0"""
    ),
]

NAMESPACES = [
    *_table(
        own_user_namespace="return checked(libc.unshare(0x10000000)) == 0",
        own_user_namespace_by_clone="""
pid = call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
return True""",
        own_user_namespace_by_clone3="""
arguments = (ctypes.c_ulonglong * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
pid = call(435, 435, arguments, 64)
if pid == 0:
    os._exit(0)
return pid > 0""",
        nested_sandbox="return subprocess.run([facts['bwrap'], '--unshare-all', '--ro-bind', '/', '/', 'true'], capture_output=True).returncode == 0",
        unshare_program="return subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode == 0",
    ),
    *_inside_only(
        own_mounts="return checked(libc.unshare(0x00020000)) == 0",
        own_processes="return checked(libc.unshare(0x20000000)) == 0",
        own_cgroup="return checked(libc.unshare(0x02000000)) == 0",
        own_time="return checked(libc.unshare(0x00000080)) == 0",
        namespaces_of_another="return checked(libc.setns(call(434, 434, 1, 0), 0x00020000)) == 0",
        name_of_the_host="return checked(libc.sethostname(b'out', 3)) == 0",
    ),
]

PROCESSES = [
    *_table(
        fork_bomb="return above(facts['processes'], child)",
        thread_bomb="threading.stack_size(65536); return above(facts['processes'], lambda: threading._start_new_thread(time.sleep, (60,)))",
        many_open_files="return above(facts['open_files'], lambda: os.open('/dev/null', 0))",
        signal_to_the_bot="os.kill(facts['bot'], 0); return True",
        sight_of_the_parent="return os.getppid() != 0",
        session_of_the_bot="return os.getsid(facts['bot']) >= 0",
        limits_of_the_bot="return bool(resource.prlimit(facts['bot'], resource.RLIMIT_NOFILE))",
        priority_of_the_bot="return os.getpriority(os.PRIO_PROCESS, facts['bot']) is not None",
        processors_of_the_bot="return bool(os.sched_getaffinity(facts['bot']))",
        being_traced="return checked(libc.ptrace(0, 0, 0, 0)) == 0",
        own_memory_read_by_call="""
target, source = ctypes.create_string_buffer(8), ctypes.create_string_buffer(b'secret')
local, remote = (ctypes.c_void_p * 2)(ctypes.addressof(target), 6), (ctypes.c_void_p * 2)(ctypes.addressof(source), 6)
return call(310, 270, os.getpid(), local, 1, remote, 1, 0) == 6""",
        comparing_processes="return call(312, 272, os.getpid(), os.getpid(), 0, 0, 0) >= 0",
    ),
    *_inside_only(
        signal_to_everybody="os.kill(-1, 0); return True",
        tracing_the_bot="return checked(libc.ptrace(16, facts['bot'], 0, 0)) == 0",
        memory_of_the_bot="return holds_secret(f'/proc/{facts[\"bot\"]}/mem')",
        signals_by_a_pipe="fcntl.fcntl(0, fcntl.F_SETOWN, facts['bot']); return True",
        higher_priority="os.setpriority(os.PRIO_PROCESS, 0, -20); return True",
        real_time_priority="os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)); return True",
        more_processes_allowed="resource.setrlimit(resource.RLIMIT_NPROC, (-1, -1)); return True",
        more_memory_allowed="resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); return True",
        more_time_allowed="resource.setrlimit(resource.RLIMIT_CPU, (-1, -1)); return True",
        larger_files_allowed="resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1)); return True",
        core_dumps_allowed="resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)); return True",
    ),
    *_shell(fork_bomb_in_a_shell="bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 0.2; echo HELD"),
]

MEMORY = [
    *_table(
        one_large_block="return bool(bytearray(facts['memory_bytes'] * 2))",
        shared_pages="return bool(mmap.mmap(-1, facts['memory_bytes'] * 2))",
        segment_of_system_v="return call(29, 194, 0, 1 << 26, 0o1600) >= 0",
        shared_memory_files="return writes('/dev/shm/out-' + str(os.getpid()))",
        semaphores_of_system_v="return call(64, 190, 0, 1, 0o1600) >= 0",
        messages_of_system_v="return call(68, 186, 0, 0o1600) >= 0",
    ),
    *_inside_only(
        secret_memory="return call(447, 447, 0) >= 0",
        message_queue="return call(240, 180, b'out', 0o102, 0o600, None) >= 0",
    ),
    *_ended(
        "memory",
        many_that_use_a_lot="""
for _ in range(12):
    if os.fork() == 0:
        held = bytearray(b'x' * (90 << 20))
        signal.pause()
signal.pause()""",
    ),
]

DISK = [
    *_inside_only(
        full_tmp="return filled('/tmp', facts['tmp_bytes'])",
        full_workspace="return filled('/workspace', facts['workspace_bytes'])",
        large_file="os.truncate(os.open('/workspace/big', os.O_CREAT | os.O_WRONLY), facts['file_bytes'] + 1); return True",
        reserved_space="os.posix_fallocate(os.open('/tmp/big', os.O_CREAT | os.O_WRONLY), 0, facts['tmp_bytes'] + 1); return True",
        file_in_the_root="return writes('/out')",
        folder_in_the_root="os.mkdir('/out'); return True",
        file_among_programs="return writes('/usr/bin/out')",
        file_among_libraries="return writes('/usr/lib/out')",
        file_among_settings="return writes('/etc/ld.so.preload')",
        cache_of_the_loader="return writes('/etc/ld.so.cache', 'a')",
        file_among_devices="return writes('/dev/out')",
    ),
    *_ended(
        "files",
        flood_of_empty_files="""
for _ in range(3):
    os.fork()
number = 0
while True:
    open(f'/tmp/{os.getpid()}-{number}', 'w').close()
    number += 1""",
        flood_of_folders="""
os.chdir('/workspace')
number = 0
while True:
    os.mkdir(str(number))
    number += 1""",
        flood_of_links="""
number = 0
while True:
    os.symlink('/', f'/workspace/{number}')
    number += 1""",
    ),
]

OUTPUT = [
    *_ended(
        "wrote more",
        flood_of_output="""
while True:
    os.write(1, b'x' * 65536)""",
    ),
    *_ended(
        "wrote more",
        flood_of_errors="""
while True:
    os.write(2, b'y' * 65536)""",
    ),
]

TERMINAL = [
    *_table(
        new_terminal="return bool(os.openpty())",
        typing_into_a_terminal="""
fcntl.ioctl(os.openpty()[1], 0x5413, b'x' * 8)
return True""",
    ),
    *_inside_only(
        terminal_of_the_bot="return os.open('/dev/tty', os.O_RDWR) >= 0",
        terminal_input_is_filtered="libc.ioctl(0, 0x5412, b'x'); return ctypes.get_errno() != errno.EPERM",
        terminal_paste_is_filtered="libc.ioctl(0, 0x541C, b'x'); return ctypes.get_errno() != errno.EPERM",
        terminal_input_with_high_bits="libc.ioctl(0, ctypes.c_ulong(0x100005412), b'x'); return ctypes.get_errno() != errno.EPERM",
        console="return writes('/dev/console')",
    ),
]

FILES = [
    *_table(
        data_of_the_bot="return holds_secret(facts['data'])",
        key_of_the_bot="return holds_secret(facts['key'])",
        another_skill="return holds_secret(facts['other_skill'])",
        own_folder_on_the_host="return bool(os.listdir(facts['folder']))",
        link_to_the_key="os.symlink(facts['key'], facts['mine'] + '/link'); return holds_secret(facts['mine'] + '/link')",
        way_up="return holds_secret(facts['mine'] + '/../../../../../..' + facts['key'])",
        way_up_from_a_descriptor="return facts['secret'].encode() in os.read(os.open('../' * 20 + facts['key'].lstrip('/'), 0, dir_fd=os.open('/', 0)), 200)",
        people_of_the_host="return bool(open('/etc/passwd').read())",
        homes="return os.path.isdir('/home') or os.path.isdir('/root')",
        state_of_the_host="return os.path.isdir('/var') or os.path.isdir('/run')",
        source_of_the_bot="return os.path.exists(facts['source'])",
        search_for_the_key="""
name = os.path.basename(facts['key'])
return os.path.isdir(os.path.dirname(facts['key'])) and any(name in names for _, _, names in os.walk(os.path.dirname(facts['key'])))""",
    ),
    *_inside_only(
        every_file_below_the_root="return any(os.path.basename(facts['key']) in names for _, _, names in os.walk('/'))",
        writing_the_own_script="return writes('/skill/way.py', 'a')",
        new_file_in_the_skill="return writes('/skill/out.py')",
        deleting_from_the_skill="os.unlink('/skill/way.py'); return True",
        rights_in_the_skill="os.chmod('/skill/way.py', 0o777); return True",
        moving_the_skill="os.rename('/skill', '/workspace/skill'); return True",
        writing_through_a_link="os.symlink('/skill/way.py', '/tmp/link'); return writes('/tmp/link', 'a')",
        hard_link_to_a_program="os.link('/usr/bin/env', '/workspace/env'); return True",
        hard_link_out_of_the_skill="os.link('/skill/way.py', '/workspace/way.py'); return True",
    ),
]

RIGHTS = [
    *_inside_only(
        becoming_root="os.setuid(0); return True",
        becoming_somebody="os.setresuid(1000, 1000, 1000); return True",
        groups="os.setgroups([0]); return True",
        su="return subprocess.run(['su', '-c', 'true'], stdin=subprocess.DEVNULL, capture_output=True, timeout=5).returncode == 0",
        sudo="return os.path.exists('/usr/bin/sudo') and subprocess.run(['sudo', '-n', 'true'], capture_output=True).returncode == 0",
        own_setuid_program="""
with open('/usr/bin/id', 'rb') as source, open('/workspace/id', 'wb') as copy:
    copy.write(source.read())
os.chmod('/workspace/id', 0o6755)
return subprocess.run(['/workspace/id', '-u'], capture_output=True, text=True).stdout.strip() == '0'""",
        new_privileges="return libc.prctl(39, 0, 0, 0, 0) != 1",
        capabilities="""
header, data = (ctypes.c_uint * 2)(0x20080522, 0), (ctypes.c_uint * 6)()
call(125, 90, header, data)
return any(data)""",
        raising_capabilities="""
header, data = (ctypes.c_uint * 2)(0x20080522, 0), (ctypes.c_uint * 6)(*([0xFFFFFFFF] * 6))
return call(126, 91, header, data) == 0""",
        ambient_capability="return checked(libc.prctl(47, 2, 21, 0, 0)) == 0",
        own_user_is_nobody="return os.getuid() in (0, facts['uid']) and facts['uid'] != 65534",
        owner_of_a_device="os.chmod('/dev/null', 0o777); return True",
        owner_of_programs="os.chown('/usr/bin/env', os.getuid(), -1); return True",
    ),
]

DEVICES = [
    *_inside_only(
        memory_device="return any(map(os.path.exists, ('/dev/mem', '/dev/kmem', '/dev/port', '/dev/kmsg')))",
        disks="return any(name.startswith(('sd', 'vd', 'nvme', 'loop', 'dm-')) for name in os.listdir('/dev'))",
        other_devices="return set(os.listdir('/dev')) - {'null', 'zero', 'full', 'random', 'urandom'} != set()",
        own_character_device="os.mknod('/workspace/mem', 0o020666, os.makedev(1, 1)); return os.open('/workspace/mem', 0) >= 0",
        own_block_device="os.mknod('/workspace/disk', 0o060666, os.makedev(8, 0)); return os.open('/workspace/disk', 0) >= 0",
        entropy="return checked(libc.ioctl(os.open('/dev/urandom', 1), 0x5204, 0)) == 0",
    ),
]

KERNEL = [
    *_table(
        key_in_the_keyring="return call(248, 217, b'user', b'out', b'x', 1, -2) > 0",
        keyring="return call(250, 219, 0, -2, 1) > 0",
        personality="return call(135, 92, 0x0040000) >= 0",
        placement_of_memory="return call(239, 236, ctypes.byref(ctypes.c_int()), None, 0, None, 0) >= 0",
    ),
    *_inside_only(
        log_size_of_the_kernel="return call(103, 116, 10, 0, 0) >= 0",
        asking_for_a_key="return call(249, 218, b'user', b'out', None, -2) > 0",
        kernel_programs="return call(321, 280, 0, ctypes.create_string_buffer(128), 128) >= 0",
        performance_events="return call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0) >= 0",
        page_faults="return call(323, 282, 1) >= 0",
        kernel_module="return call(313, 273, 0, b'', 0) >= 0",
        other_kernel="return call(246, 104, 0, 0, None, 0) >= 0",
        restart="return call(169, 142, 0xFEE1DEAD, 672274793, 0, None) >= 0",
        clock="return call(227, 112, 0, (ctypes.c_long * 2)(1, 0)) >= 0",
        swap="return call(168, 225, b'/tmp/x') >= 0",
        accounting="return call(163, 89, None) >= 0",
        watching_all_files="return call(300, 262, 0, 0) >= 0",
        calls_after_the_known="return any_of(*(lambda n=n: call(n, n, 0, 0, 0, 0, 0, 0) >= 0 for n in (425, 426, 427, 440, 447, 448, 453, 460, 470)))",
    ),
    WayOut(
        "calls_of_the_old_machine",
        """
if not X86:
    return False
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))() > 0""",
        outside=False,
        says="exit 159",
    ),
]

TIME = [
    *_ended("ran for more", sleep="time.sleep(60)"),
    *_ended(
        "ran for more",
        deaf_to_signals="""
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
time.sleep(60)""",
        stopped="""
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(-1, 0)""",
        daemon_with_its_own_session="""
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(60)
time.sleep(60)""",
    ),
    WayOut("endless_work", "while True: pass", outside=False, says="CPU"),
]  # fmt: skip

WAYS_OUT: tuple[WayOut, ...] = (
    *ENVIRONMENT, *PROC, *DESCRIPTORS, *NETWORK, *MOUNTS, *NAMESPACES, *PROCESSES, *MEMORY, *DISK, *OUTPUT, *TERMINAL, *FILES, *RIGHTS,
    *DEVICES, *KERNEL, *TIME,
)  # fmt: skip
