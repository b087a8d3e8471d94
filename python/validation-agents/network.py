"""Tries to reach a listener that the harness opened on the host, in every possible way."""

import socket
import struct
from pathlib import Path

from attempts import Judged, Stopped, add, run_all, settings, tries

SETTINGS = settings()
WORD = SETTINGS["token"].encode()
SECONDS = 2.0


def connect(family: int, address: object) -> str:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(SECONDS)
        connection.connect(address)
        connection.sendall(WORD)
    return f"connected to {address}"


def send(family: int, address: tuple[str, int]) -> None:
    with socket.socket(family, socket.SOCK_DGRAM) as connection:
        connection.settimeout(SECONDS)
        connection.sendto(WORD, address)
    raise Judged("sent; nobody answers a datagram, so the listener tells whether it came")


port, port6, port_udp = SETTINGS["tcp"], SETTINGS["tcp6"], SETTINGS["udp"]
for host in ("127.0.0.1", "127.1.2.3", "0.0.0.0", *SETTINGS["addresses"]):
    add("connect by TCP", f"{host}:{port}", lambda h=host: connect(socket.AF_INET, (h, port)))
    add("send by UDP", f"{host}:{port_udp}", lambda h=host: send(socket.AF_INET, (h, port_udp)))
add("connect by TCP, IPv6", f"[::1]:{port6}", lambda: connect(socket.AF_INET6, ("::1", port6)))
add(
    "connect by IPv4 in IPv6",
    f"[::ffff:127.0.0.1]:{port}",
    lambda: connect(socket.AF_INET6, ("::ffff:127.0.0.1", port)),
)
add(
    "connect to an abstract socket",
    "@" + SETTINGS["abstract"],
    lambda: connect(socket.AF_UNIX, "\0" + SETTINGS["abstract"]),
)
add(
    "connect to a socket file",
    SETTINGS["socket_file"],
    lambda: connect(socket.AF_UNIX, SETTINGS["socket_file"]),
)
for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"):
    add("speak to a service of the host", path, lambda p=path: connect(socket.AF_UNIX, p))


@tries("look up a name", "getaddrinfo('example.org')")
def look_up() -> str:
    return str(socket.getaddrinfo("example.org", 80)[0][4])


@tries("ask a name server", "UDP to 127.0.0.53:53")
def ask_name_server() -> str:
    query = struct.pack(">6H", 7, 256, 1, 0, 0, 0) + b"\7example\3org\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.settimeout(SECONDS)
        connection.connect(("127.0.0.53", 53))
        connection.send(query)
        return f"{len(connection.recv(512))} bytes"


@tries("reach another machine", "TCP to 192.0.2.1:80 (reserved for documentation)")
def other_machine() -> str:
    return connect(socket.AF_INET, ("192.0.2.1", 80))


@tries("open a raw socket", "AF_INET, SOCK_RAW, ICMP")
def raw() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
        return "opened it"


@tries("listen to the wire", "AF_PACKET, SOCK_RAW")
def packets() -> str:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)):
        return "opened it"


@tries("speak to the machine's host", "AF_VSOCK")
def virtual_machine() -> str:
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as connection:
        connection.settimeout(SECONDS)
        connection.connect((2, port))
    return "connected"


@tries("find a network interface", "if_nameindex, /proc/net/route")
def interfaces() -> str:
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    routes = Path("/proc/net/route").read_text().splitlines()[1:]
    # The kernel shows its own empty tunnels in every new namespace; none leads anywhere.
    if not routes:
        raise Stopped(
            f"no route leads anywhere (interfaces beside lo: {', '.join(names) or 'none'})"
        )
    return f"{len(routes)} routes, {', '.join(names)}"


@tries("find a proxy", "environment variables")
def proxy() -> str:
    import urllib.request

    found = urllib.request.getproxies()
    if not found:
        raise Stopped("no variable names one")
    return str(found)


if __name__ == "__main__":
    run_all()
