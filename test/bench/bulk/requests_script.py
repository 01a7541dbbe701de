"""What people write today: a thread pool, and for each row a new signature and a new connection.

The last argument says what sends: `requests`, without a session, or `urllib` of the standard library, which is faster.
"""
import csv
import hashlib
import json
import random
import string
import sys
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

base_url, tenant_code, channel, app_key, secret, path, library = sys.argv[1:]


def md5(params):
    text = "&".join(f"{name}={value}" for name, value in sorted(params.items()) if value != "")
    return hashlib.md5(f"{text}&key={secret}".encode()).hexdigest()


def passback(row):
    form = {"union_id": row.pop("union_id"), "user_info": json.dumps(row, ensure_ascii=False)}
    moment = {
        "random": "".join(random.choices(string.ascii_letters + string.digits, k=20)),
        "timestamp": str(int(time.time())),
    }
    query = {"tenant_code": tenant_code, "app_key": app_key, "channel": channel, **moment}
    query["app_sign"] = md5({"app_key": app_key, **moment})
    query["sign"] = md5({**query, **form})
    if send(f"{base_url}/api/v1/server/user/passback_user_info", query, form)["code"] != 200:
        raise RuntimeError("not ok")


def send_with_requests(url, query, form):
    return requests.put(url, params=query, data=form).json()


def send_with_urllib(url, query, form):
    request = urllib.request.Request(
        f"{url}?{urllib.parse.urlencode(query)}", data=urllib.parse.urlencode(form).encode(), method="PUT"
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


if library == "requests":
    import requests

    send = send_with_requests
else:
    send = send_with_urllib
with open(path, encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
with ThreadPoolExecutor(32) as pool:
    for _ in pool.map(passback, rows):
        pass
