# coding: ascii
# HEADER
from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from typing import Callable, Iterable, Mapping
from urllib.parse import quote, quote_plus


def signed_request(
    operation: str,
    base_url: str,
    query: Mapping[str, object] | Iterable[tuple[str, object]],
    fields: Mapping[str, object] | Iterable[tuple[str, object]],
    secret: str,
) -> tuple[str, str, str | None]:
    """Method, URL and body of "read" or "passback", as they are sent.

    query: from tenant_code on; random and timestamp where they are not to
    be new. fields: those of the form of a passback.
    """
    method, endpoint = {
        "read": ("GET", "/api/v1/server/user/user_info_for_third"),
        "passback": ("PUT", "/api/v1/server/user/passback_user_info"),
    }[operation]
    signed = pairs_of(query)
    if "random" not in dict(signed):
        signed.append(("random", secrets.token_hex(8)))
    if "timestamp" not in dict(signed):
        signed.append(("timestamp", str(int(time.time()))))
    others = pairs_of(fields)
    body = encode_pairs(others) if others else None
    for name, rule in (("app_sign", app_sign), ("sign", sign)):
        url = base_url + endpoint + "?" + encode_pairs(signed)
        signed.append((name, rule(method, url, signed + others, body, secret)))
    return method, base_url + endpoint + "?" + encode_pairs(signed), body


def sign(
    method: str,
    url: str,
    params: Mapping[str, object] | Iterable[tuple[str, object]],
    body: str | None,
    secret: str,
) -> str:
    """params: decoded, in the order of the request, without sign."""
    # RULE
    def pair(name: str, value: str) -> str:
        return name + "=" + value

    pairs = sort_by(pairs_of(params), pair)
    message = join_pairs(pairs, "&", pair) + secret
    return to_hex(digest("md5", utf8(message)))


# In place of app_sign where a rule has one signature.
app_sign = sign


def encode_pairs(pairs: list[tuple[str, str]]) -> str:
    written = [rfc3986(name) + "=" + rfc3986(value) for name, value in pairs]
    return "&".join(written)


def pairs_of(
    params: Mapping[str, object] | Iterable[tuple[str, object]],
) -> list[tuple[str, str]]:
    pairs = params.items() if isinstance(params, Mapping) else params
    return [(name, str(value)) for name, value in pairs]


def upper_names(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(upper(name), value) for name, value in pairs]


def only(
    pairs: list[tuple[str, str]], names: list[str]
) -> list[tuple[str, str]]:
    return [pair for pair in pairs if pair[0] in names]


def without(
    pairs: list[tuple[str, str]], names: list[str]
) -> list[tuple[str, str]]:
    return [pair for pair in pairs if pair[0] not in names]


def form_or_query(
    pairs: list[tuple[str, str]], names: list[str]
) -> list[tuple[str, str]]:
    """The fields of a form; those of the query where there is no form."""
    return only(pairs, names) or pairs


def reversed_pairs(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return pairs[::-1]


def drop_empty(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in pairs if value != ""]


def with_pair(
    pairs: list[tuple[str, str]], name: str, value: str
) -> list[tuple[str, str]]:
    return pairs + [(name, value)]


def in_order(
    pairs: list[tuple[str, str]], names: list[str]
) -> list[tuple[str, str]]:
    """The pairs of these names, in their order."""
    named = [pair for pair in pairs if pair[0] in names]
    return sorted(named, key=lambda pair: names.index(pair[0]))


def sort_by(
    pairs: list[tuple[str, str]], key: Callable[[str, str], str]
) -> list[tuple[str, str]]:
    """Sorts by UTF-16 code unit."""
    return sorted(pairs, key=lambda pair: utf16(key(*pair)))


def join_pairs(
    pairs: list[tuple[str, str]],
    separator: str,
    write: Callable[[str, str], str],
) -> str:
    return separator.join(write(name, value) for name, value in pairs)


def param(
    params: Mapping[str, object] | Iterable[tuple[str, object]], wanted: str
) -> str:
    """The first parameter of this name."""
    for name, value in pairs_of(params):
        if name == wanted:
            return value
    raise ValueError("the parameter " + wanted + " is missing")


def text_of(body: str | None) -> str:
    return body or ""


def query_of(url: str) -> str:
    return url.partition("?")[2]


def without_query(url: str) -> str:
    return url.partition("?")[0]


def host(url: str) -> str:
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://([^/]*)", url)
    return found[1] if found else ""


def path(url: str) -> str:
    shape = r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*(.*)"
    found = re.match(shape, url, re.DOTALL)
    return url if found is None else found[1] or "/"


def from_segment(text: str, segment: str) -> str:
    return text[max(0, text.find(segment)):]


def upper(text: str) -> str:
    return text.upper()


def lower(text: str) -> str:
    return text.lower()


def cut(text: str, start: int, end: int) -> str:
    """A part of a text, counted in UTF-16 code units."""
    units = text.encode("utf-16-be", "surrogatepass")[2 * start:2 * end]
    return units.decode("utf-16-be", "surrogatepass")


def form(text: str) -> str:
    return quote_plus(utf8(text), safe="*").replace("~", "%7E")


def form_php(text: str) -> str:
    return quote_plus(utf8(text)).replace("~", "%7E")


def form_python(text: str) -> str:
    return quote_plus(utf8(text))


def form_dotnet(text: str) -> str:
    escaped = quote_plus(utf8(text), safe="!*()").replace("~", "%7E")
    return re.sub("%..", lambda found: found[0].lower(), escaped)


def rfc3986(text: str) -> str:
    return quote(utf8(text), safe="")


def javascript(text: str) -> str:
    return quote(utf8(text), safe="!'()*")


def utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def utf8(text: str) -> bytes:
    units = text.encode("utf-16", "surrogatepass")
    return units.decode("utf-16", "replace").encode()


def concat(parts: list[bytes]) -> bytes:
    return b"".join(parts)


def from_hex(text: str) -> bytes:
    if re.fullmatch("(?:[0-9A-Fa-f]{2})*", text) is None:
        raise ValueError("the key is not hex")
    return bytes.fromhex(text)


def from_base64(text: str) -> bytes:
    shape = "(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}"
    if re.fullmatch(shape, text) is None:
        raise ValueError("the key is not base64")
    digits = text.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def digest(algorithm: str, data: bytes) -> bytes:
    return hashlib.new(algorithm, data).digest()


def keyed_digest(algorithm: str, key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, algorithm).digest()


def to_hex(data: bytes) -> str:
    return data.hex()


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def to_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
