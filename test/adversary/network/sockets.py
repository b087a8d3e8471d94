"""Tries every way out by a socket that the kernel knows."""

import ctypes
import os
import socket
import struct

from inside import SETTINGS, Held, attack, main, read, syscall

ADDRESSES = ("1.1.1.1", "8.8.8.8", "10.0.0.1", "172.17.0.1", "192.168.0.1", "169.254.169.254")


def connects(family: int, address: tuple, seconds: float = 0.5) -> str:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect(address)
        except TimeoutError:
            raise Held("nobody answers") from None
        return f"connected to {address}"


def first_that_works(tries) -> str:
    reasons = set()
    for attempt in tries:
        try:
            return attempt()
        except (OSError, Held) as reason:
            reasons.add(getattr(reason, "strerror", None) or str(reason))
    raise Held("; ".join(sorted(reasons)))


@attack("connects to a server of the host on 127.0.0.1")
def local() -> str:
    return connects(socket.AF_INET, ("127.0.0.1", SETTINGS["port"]))


@attack("connects to a server of the host by IPv6")
def local_six() -> str:
    return connects(socket.AF_INET6, ("::1", SETTINGS["port"]))


@attack("connects to an abstract socket of the host")
def abstract() -> str:
    return connects(socket.AF_UNIX, f"\0{SETTINGS['abstract']}")


@attack("connects to a socket file of the host")
def socket_file() -> str:
    return connects(socket.AF_UNIX, SETTINGS["socket"])


@attack("connects to addresses outside and to a cloud's metadata server")
def outside() -> str:
    return first_that_works(
        lambda host=host: connects(socket.AF_INET, (host, 80)) for host in ADDRESSES
    )


@attack("asks name servers by UDP")
def name_servers() -> str:
    def ask(host: str) -> str:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            asked.settimeout(0.5)
            query = b"\0\1\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"
            asked.sendto(query, (host, 53))
            return f"{host} answered {len(asked.recv(512))} bytes"

    return first_that_works(lambda host=host: ask(host) for host in (*ADDRESSES, "127.0.0.53"))


@attack("looks a name up")
def looks_up() -> str:
    return f"it is {socket.gethostbyname('example.com')}"


@attack("reaches others by broadcast and multicast")
def broadcast() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        return first_that_works(
            lambda host=host: f"sent {sender.sendto(b'x', (host, 9))} byte to {host}"
            for host in ("255.255.255.255", "224.0.0.1", "239.255.255.250")
        )


@attack("sends packets of its own making")
def raw() -> str:
    kinds = [(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)]
    kinds += [(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)]
    kinds += [(socket.AF_PACKET, socket.SOCK_RAW, 0), (socket.AF_PACKET, socket.SOCK_DGRAM, 0)]
    return first_that_works(lambda kind=kind: str(socket.socket(*kind)) for kind in kinds)


@attack("reaches the machine's host by a virtual machine's line")
def virtual_line() -> str:
    def reach(identity: int) -> str:
        with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as connection:
            connection.settimeout(0.5)
            connection.connect((identity, 22))
            return f"connected to {identity}"

    return first_that_works(lambda one=one: reach(one) for one in (0, 1, 2))


@attack("opens sockets of families that know no network namespace")
def families() -> str:
    opened = []
    for family in range(2, 46):
        if family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):
            continue
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind).close()
                opened.append(family)
            except OSError:
                continue
    if opened:
        return f"families {sorted(set(opened))}"
    raise Held("none can be opened")


@attack("opens sockets of such families by numbers of which the kernel sees the lower half")
def half_families() -> str:
    number = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
    opened = []
    for family in set(range(3, 46)) - {socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET}:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            try:
                os.close(syscall(number, *map(ctypes.c_long, (2**32 + family, kind, 0))))
                opened.append(family)
            except OSError:
                continue
    if opened:
        return f"families {sorted(set(opened))}"
    raise Held("none can be opened")


@attack("changes the routes by netlink")
def routes() -> str:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as asked:
        # RTM_NEWLINK: brings the first interface up.
        body = struct.pack("=BBHiII", 0, 0, 0, 1, 1, 1)
        asked.send(struct.pack("=IHHII", 16 + len(body), 16, 5, 1, 0) + body)
        code = struct.unpack_from("=i", asked.recv(4096), 16)[0]
        if code == 0:
            raise Held("its own lo is up; there is no other interface")
        raise Held(os.strerror(-code))


@attack("finds an interface that leads somewhere")
def interfaces() -> str:
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    routes = read("/proc/net/route").decode().splitlines()[1:]
    if routes:
        return f"{names} with {len(routes)} routes"
    raise Held(f"no route, and beside lo {names or 'nothing'}")


@attack("passes a server's port on by listening where the host can connect")
def listens() -> str:
    with socket.socket() as server:
        server.bind(("0.0.0.0", SETTINGS["free_port"]))
        server.listen()
        server.settimeout(2)
        try:
            return f"the host connected: {server.accept()[1]}"
        except TimeoutError:
            raise Held("nobody of the host could connect") from None


@attack("speaks to the container engine or to system services")
def engines() -> str:
    paths = ("/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock")
    paths += ("/run/containerd/containerd.sock", "/run/dbus/system_bus_socket")
    paths += ("/run/systemd/private", "/run/systemd/notify", "/dev/log", "/tmp/.X11-unix/X0")
    return first_that_works(lambda path=path: connects(socket.AF_UNIX, path) for path in paths)


main()
