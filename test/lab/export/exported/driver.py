import sys

import signature


def text(field):
    return bytes.fromhex(field).decode("utf-16-be", "surrogatepass")


for line in sys.stdin:
    name, method, url, body, secret, params = line.rstrip("\n").split(" ")
    pairs = [tuple(map(text, pair.split("="))) for pair in params.split(",") if pair]
    sign = getattr(signature, name)
    try:
        done = sign(text(method), text(url), pairs, None if body == "-" else text(body), text(secret))
        print(done.encode("utf-16-be", "surrogatepass").hex())
    except UnicodeError:
        raise
    except ValueError as error:
        print("!" + str(error).encode("utf-16-be", "surrogatepass").hex())
