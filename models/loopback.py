"""Which hosts are this machine."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether ``host``, a name or an address without brackets, is always this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
