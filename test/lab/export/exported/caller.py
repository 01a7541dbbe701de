import signature

query = {"tenant_code": "acme", "app_key": "app-1"}
print("SENT", *signature.signed_request("passback", "https://h/p", query, [("f", "c 1/2")], "s"))
