using System;
using System.Collections.Generic;
using Signing;

public static class Caller
{
    static KeyValuePair<string, string> Pair(string name, string value)
    {
        return new KeyValuePair<string, string>(name, value);
    }

    public static void Main()
    {
        var query = new[] { Pair("tenant_code", "acme"), Pair("app_key", "app-1") };
        var sent = Signature.SignedRequest("passback", "https://h/p", query, new[] { Pair("f", "c 1/2") }, "s");
        Console.WriteLine("SENT " + string.Join(" ", sent));
    }
}
