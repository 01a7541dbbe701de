"""What a host learns of a secret: recovers parts of it from requests that it received, by trial.

python3 recover-secret.py < '{"requests": [{"app_sign": "…", "sign": "…"}], "length": 12, "names": ["a", "b"]}'
prints the parts that were found as a JSON list. Knows MD5 and HMAC-MD5 of three characters, of a text whose
characters are only told to be vowels or not, and of names sorted by values. `length` is that of the secret,
`names` are those of the parameters and of the secret.
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
    for bits in itertools.product("01", repeat=given["length"]):
        if md5("".join(bits)) in wanted:
            found.append("".join(bits))
    for order in itertools.permutations(given["names"]):
        if md5("&".join(order)) in wanted:
            found.append("place of " + ",".join(order))
json.dump(found, sys.stdout)
