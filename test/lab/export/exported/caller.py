import signature

query = {"tenant_code": "acme", "app_key": "app-1", "code": "c 1/2"}
for pair in signature.signed_query("PUT", "https://h/p", query, [("f", "1")], None, "s"):
    print("=".join(pair))
