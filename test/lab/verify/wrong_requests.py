"""Wrong requests of the contract: python3 wrong_requests.py SEED COUNT

Prints a JSON line for each: the rule as a recipe, the request as it was sent, and the mistake by
which it was signed. `causes` has every mistake of the table that gives the same signature.
Imports nothing of this project.
"""

import base64
import hashlib
import hmac
import json
import random
import sys
from urllib.parse import quote, quote_plus

BASE = "/api/v1/server/user/"
SECRET = "Th3-s3cret/of+the=App"
UNSENT_SCOPE = ("scope", "get_user_info", "query")


def js(text, keep="-_.!~*'()"):
    return quote(text, safe=keep)


def lower_escapes(text):
    pieces = text.split("%")
    return pieces[0] + "".join("%" + piece[:2].lower() + piece[2:] for piece in pieces[1:])


ENCODERS = {
    "none": lambda text: text,
    "java": lambda text: quote(text, safe="*-._ ").replace("~", "%7E").replace(" ", "+"),
    "php": lambda text: quote(text, safe="-._ ").replace("~", "%7E").replace(" ", "+"),
    "python": lambda text: quote_plus(text, safe=""),
    "httputility": lambda text: lower_escapes(
        quote(text, safe="-_.!*() ").replace("~", "%7E").replace(" ", "+")
    ),
    "webutility": lambda text: quote(text, safe="-_.!*() ").replace("~", "%7E").replace(" ", "+"),
    "rfc3986": lambda text: quote(text, safe=""),
    "javascript": js,
    "quote": lambda text: quote(text),
    "java-plus": lambda text: ENCODERS["java"](text).replace("+", "%20"),
    "java-plus-tilde": lambda text: ENCODERS["java-plus"](text).replace("%7E", "~"),
    "encodeuri": lambda text: js(text, keep="-_.!~*'();,/?:@&=+$#"),
    "lower-escapes": lambda text: lower_escapes(quote(text, safe="")),
}
IN_RECIPE = {
    "none": "none",
    "java": "form",
    "php": "form-php",
    "python": "form-python",
    "httputility": "form-dotnet",
    "rfc3986": "rfc3986",
    "javascript": "javascript",
}
CHARSETS = {
    "gbk": lambda text: text.encode("gbk", "replace"),
    "gb18030": lambda text: text.encode("gb18030"),
    "big5": lambda text: text.encode("big5", "replace"),
    "latin1": lambda text: text.encode("latin1", "replace"),
    "latin1-cut": lambda text: bytes(
        byte & 255
        for unit in [text.encode("utf-16-le")]
        for byte in unit[::2]
    ),
    "utf16": lambda text: text.encode("utf-16-le"),
}
SECRET_FORMS = {
    "&key=": ("&key=", "{s}"),
    "&secret=": ("&secret=", "{s}"),
    "&KEY=": ("&KEY=", "{s}"),
    "behind": ("{s}",),
    "before": ("{s}", "{p}"),
    "around": ("{s}", "{p}", "{s}"),
    "none": (),
}
JOINS = [("=", "&"), ("", ""), ("=", ""), (":", ","), ("=", "|"), ("", "&"), ("=", ",")]
DIGESTS = ["md5", "sha1", "sha256", "hmac-md5", "hmac-sha1", "hmac-sha256"]


def units(text):
    return text.encode("utf-16-be")


def selected(rule, request):
    pairs = [pair for pair in request["pairs"] if rule["place"] == "both" or pair[2] == "query"]
    if rule["empty"] == "drop":
        pairs = [pair for pair in pairs if pair[1] != ""]
    order = rule["order"]
    if isinstance(order, list):
        return [pair for name in order for pair in pairs if pair[0] == name]
    if order == "reversed":
        return pairs[::-1]
    if order == "nocase":
        return sorted(pairs, key=lambda pair: units(pair[0].lower()))
    if order == "value":
        return sorted(pairs, key=lambda pair: units(pair[1]))
    if order == "sent":
        return pairs
    return sorted(pairs, key=lambda pair: units(pair[0]), reverse=order == "name-desc")


def block(rule, request):
    encode = ENCODERS[rule["encode"]]
    texts = []
    for name, value, _ in selected(rule, request):
        name, value = encode(name), encode(value)
        parts = {"both": (name, rule["kv"], value), "values": (value,), "names": (name,)}
        texts.append("".join(parts[rule["writes"]]))
    return rule["pair"].join(texts) + rule.get("end", "")


def message(rule, request, secret):
    form = SECRET_FORMS[rule["secret"]]
    if "{p}" not in form:
        form = ("{p}",) + form
    head = {"": "", "method": "{m}", "method+path": "{m}{a}", "url": "{u}"}[rule["head"]]
    text = ""
    for part in (head,) + form:
        text += (
            part.replace("{m}", request["method"])
            .replace("{a}", request["path"])
            .replace("{u}", request["url"])
            .replace("{s}", secret)
            .replace("{p}", "\0")
        )
    return rule.get("change", str)(text.replace("\0", block(rule, request)))


def digest(name, data, key):
    if name.startswith("hmac-"):
        return hmac.new(key, data, name[5:])
    return hashlib.new(name, data)


def sign(rule, request, secret=SECRET):
    data = rule.get("bytes", lambda text: text.encode())(message(rule, request, secret))
    key = secret.encode()
    if rule.get("swapped"):
        data, key = key, data
    for _ in range(rule.get("times", 1) - 1):
        data = digest(rule["digest"], data, key).hexdigest().encode()
    made = digest(rule["digest"], data, key)
    outputs = {
        "hex": made.hexdigest,
        "HEX": lambda: made.hexdigest().upper(),
        "base64": lambda: base64.b64encode(made.digest()).decode(),
    }
    text = outputs[rule["output"]]()
    return text[:32] if rule["cut"] else text


def recipe(rule):
    params = {"empty": rule["empty"], "order": rule["order"], "encode": IN_RECIPE[rule["encode"]]}
    params.update(kvSep=rule["kv"], pairSep=rule["pair"])
    params["from"] = rule["place"]
    params["names"] = rule["writes"] == "both"
    head = {"": [], "method": ["$method"], "method+path": ["$method", "$path"], "url": ["$url"]}
    form = SECRET_FORMS[rule["secret"]]
    if "{p}" not in form:
        form = ("{p}",) + form
    texts = [part.replace("{s}", "$secret").replace("{p}", "$params") for part in form]
    steps = [rule["digest"]] + (["slice:0:32"] if rule["cut"] else [])
    return {
        "params": params,
        "message": head[rule["head"]] + texts,
        "steps": steps,
        "output": rule["output"],
    }


def changed(request, change):
    return dict(request, pairs=[change(pair) for pair in request["pairs"]])


def with_value(request, name, change):
    return changed(
        request,
        lambda pair: (name, change(pair[1]), pair[2]) if pair[0] == name else pair,
    )


def without(request, name):
    return dict(request, pairs=[pair for pair in request["pairs"] if pair[0] != name])


def spaced(value):
    return json.dumps(json.loads(value), ensure_ascii=False)


def mistakes(rule, request):
    """Every mistake of the table: its name, and the signature that it gives."""

    def by(name, more=None, sent=None, secret=SECRET):
        return name, sign(dict(rule, **(more or {})), sent or request, secret)

    for name, encode in CHARSETS.items():
        if rule["encode"] == "none":
            yield by("charset " + name, {"bytes": encode})
    if rule["encode"] == "none" or rule["kv"] != "":
        for name in ENCODERS:
            yield by("encoder " + name, {"encode": name})
    yield by("place", {"place": "query" if rule["place"] == "both" else "both"})
    for writes in ("values", "names", "both"):
        yield by("writes " + writes, {"writes": writes})
        if writes != "both":
            yield by("writes " + writes, {"writes": writes, "pair": ""})
    for order in ("name", "name-desc", "value", "sent", "nocase"):
        yield by("order " + order, {"order": order})
    yield by("order reversed", {"order": "reversed"} if rule["order"] == "sent" else None)
    if isinstance(rule["order"], list):
        yield by("order reversed", {"order": rule["order"][::-1]})
    yield by("time", None, with_value(request, "timestamp", lambda text: text + "000"))
    yield by("empty", {"empty": "keep" if rule["empty"] == "drop" else "drop"})
    for name, value, _ in request["pairs"]:
        yield by("left out " + name, None, without(request, name))
        yield by("emptied " + name, None, with_value(request, name, lambda _: ""))
        yield by("value upper " + name, None, with_value(request, name, str.upper))
        if name != "user_info":
            yield by("encoded " + name, None, with_value(request, name, lambda text: quote(text, safe="")))
            plus = with_value(request, name, lambda text: text.replace(" ", "+"))
            yield by("plus " + name, None, plus)
            yield by("space " + name, None, with_value(request, name, lambda text: text + " "))
        if value == "":
            yield by("null " + name, None, with_value(request, name, lambda _: "null"))
    if not any(name == "scope" for name, *_ in request["pairs"]) and request["method"] == "GET":
        yield by("not sent", None, dict(request, pairs=request["pairs"] + [UNSENT_SCOPE]))
    yield by("sign empty", None, dict(request, pairs=request["pairs"] + [("sign", "", "query")]))
    for name, text in {
        "space": SECRET + "\n",
        "space ": SECRET + " ",
        "space  ": " " + SECRET,
        "space   ": SECRET + "\r\n",
        "quotes": '"' + SECRET + '"',
        "empty": "",
        "case": SECRET.upper(),
        "case ": SECRET.lower(),
        "md5": hashlib.md5(SECRET.encode()).hexdigest(),
        "app key": request["app_key"],
    }.items():
        yield by("secret " + name.strip(), secret=text)
    if rule["secret"] != "none":
        for place in SECRET_FORMS:
            yield by("secret place", {"secret": place})
    for kv, pair in JOINS:
        yield by("separators", {"kv": kv, "pair": pair})
    yield by("end", {"end": rule["pair"]})
    for name in DIGESTS:
        yield by("digest", {"digest": name, "cut": rule["cut"] and "md5" not in name})
    if rule["secret"] != "none":
        for name in DIGESTS[3:]:
            cut = rule["cut"] and "md5" not in name
            yield by("keyed", {"digest": name, "secret": "none", "cut": cut})
        for name in ("key", "secret", "app_secret"):
            added = dict(request, pairs=request["pairs"] + [(name, SECRET, "query")])
            yield by("among", {"secret": "none"}, added)
    yield by("digest twice", {"times": 2})
    if rule["digest"].startswith("hmac-"):
        yield by("key and message", {"swapped": True})
    for output in ("hex", "HEX", "base64"):
        yield by("output " + output, {"output": output})
    yield by("message upper", {"change": str.upper} if rule["encode"] == "none" else None)
    yield by("message lower", {"change": str.lower})
    yield by("line end", {"change": lambda text: text + "\n"})
    if any(name == "user_info" for name, *_ in request["pairs"]):
        rest = [pair for pair in request["pairs"] if pair[0] != "user_info"]
        info = [pair[1] for pair in request["pairs"] if pair[0] == "user_info"][0]
        members = [pair + ("form",) for pair in json.loads(info).items()]
        yield by("members", None, dict(request, pairs=rest + members))
        for name, write in {
            "escaped": lambda text: json.dumps(json.loads(text), separators=(",", ":")),
            "slashes": lambda text: text.replace("/", "\\/"),
            "spaced": spaced,
            "sorted": lambda text: json.dumps(
                json.loads(text), ensure_ascii=False, separators=(",", ":"), sort_keys=True
            ),
        }.items():
            yield by("json " + name, None, with_value(request, "user_info", write))
    if rule["head"] != "":
        yield by("address", None, dict(request, method=request["method"].lower()))
        yield by("address", None, dict(request, path=request["path"] + "/", url=request["url"] + "/"))
        yield by("address", None, dict(request, url=request["url"].replace("https", "http")))


def draw_rule(draw):
    digest_name = draw.choice(DIGESTS + ["md5", "md5", "md5"])
    is_short = "md5" in digest_name
    common = ["app_key", "channel", "random", "tenant_code", "timestamp", "app_sign"]
    kv, pair = draw.choice(JOINS[:1] * 4 + JOINS)
    return {
        "place": draw.choice(["both", "both", "query"]),
        "order": draw.choice(
            ["name"] * 6 + ["name-desc", "value", "sent", draw.sample(common, draw.randint(3, 6))]
        ),
        "empty": draw.choice(["keep", "drop"]),
        "encode": draw.choice(["none"] * 5 + list(IN_RECIPE)),
        "kv": kv,
        "pair": pair,
        "writes": draw.choice(["both"] * 5 + ["values"]),
        "secret": "none" if "hmac" in digest_name else draw.choice(list(SECRET_FORMS)[:6]),
        "head": draw.choice([""] * 6 + ["method", "method+path", "url"]),
        "digest": digest_name,
        "output": draw.choice(["hex", "hex", "HEX"]),
        "cut": not is_short,
    }


TEXTS = ["plain", "a b", "张三/李四", "x+y=z&w", "~t*e!s'(t)", "100%", "Ünïcode", "備註 A"]


def draw_request(draw):
    def text(size):
        return "".join(draw.choice("abcdefghkmnpqrstuvwxyzABCDEFGH0123456789") for _ in range(size))

    app_key = "app-" + text(4)
    pairs = [("tenant_code", "acme"), ("app_key", app_key), ("channel", draw.choice(["web", "App"]))]
    path = BASE + "passback_user_info"
    is_read = draw.random() < 0.4
    if is_read:
        path = BASE + "user_info_for_third"
        pairs += [("code", draw.choice(TEXTS) + text(4))]
        if draw.random() < 0.5:
            pairs += [("info_name", draw.choice(["", "mobile,level", "id_card"]))]
    if draw.random() < 0.5:
        pairs += [(draw.choice(["note", "Zone"]), draw.choice(TEXTS + [""]))]
    pairs += [("random", text(draw.randint(8, 20))), ("timestamp", str(draw.randint(10**9, 2 * 10**9)))]
    pairs += [("app_sign", hashlib.md5(text(9).encode()).hexdigest())]
    form = []
    if not is_read:
        key = draw.choice(["union_id", "primary_key"])
        info = {"name": draw.choice(TEXTS), "mobile": "138" + text(3), "a_url": "https://e.com/x"}
        form = [(key, "u001" if key == "union_id" else "mobile")]
        form += [("user_info", json.dumps(info, ensure_ascii=False, separators=(",", ":")))]
    return {
        "app_key": app_key,
        "method": "GET" if is_read else "PUT",
        "url": "https://api.example.com" + path,
        "path": path,
        "pairs": [pair + ("query",) for pair in pairs] + [pair + ("form",) for pair in form],
    }


def sent(request, signature):
    def write(place, more=()):
        pairs = [pair[:2] for pair in request["pairs"] if pair[2] == place] + list(more)
        return "&".join(quote(name, safe="") + "=" + quote(value, safe="") for name, value in pairs)

    body = write("form")
    return {
        "method": request["method"],
        "url": request["url"] + "?" + write("query", [("sign", signature)]),
        "body": body or None,
        "secret": SECRET,
    }


def main():
    draw = random.Random(int(sys.argv[1]))
    done = 0
    while done < int(sys.argv[2]):
        rule, request = draw_rule(draw), draw_request(draw)
        right = sign(rule, request)
        wrong = [(name, made) for name, made in mistakes(rule, request) if made != right]
        # Each kind of mistake is as likely, however many of it there are; bytes are likelier.
        kinds = sorted({name.split(" ")[0] for name, _ in wrong})
        kind = draw.choice(kinds + [one for one in kinds if one in ("charset", "encoder")] * 3)
        cause, signature = draw.choice([one for one in wrong if one[0].split(" ")[0] == kind])
        causes = sorted({name for name, made in wrong if made == signature})
        line = {"recipe": recipe(rule), "sample": sent(request, signature), "right": right}
        print(json.dumps(dict(line, cause=cause, causes=causes)))
        done += 1


main()
