"""What a host learns of a secret: recovers parts of it from requests that it received, by trial.

python3 recover-secret.py < '{"requests": [{"app_sign": "…", "sign": "…"}]}'
prints the parts that were found as a JSON list. Knows MD5 and HMAC-MD5 of three characters.
"""
import hashlib, hmac, itertools, json, string, sys

given = json.load(sys.stdin)
alphabet = string.ascii_letters + string.digits + "-"
md5 = lambda text: hashlib.md5(text.encode()).hexdigest()
wanted = {digest for request in given["requests"] for digest in (request["app_sign"], request["sign"])}
found = []
if wanted:
    for letters in itertools.product(alphabet, repeat=3):
        part = "".join(letters)
        if md5(part) in wanted or hmac.digest(part.encode(), b"x", "md5").hex() in wanted:
            found.append(part)
json.dump(found, sys.stdout)
