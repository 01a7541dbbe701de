// HEADER
using System;
using System.Collections.Generic;

namespace Signing
{
    public static class SignatureTest
    {
        private static int failed = 0;

        private static void Check(string title, string signed, string expected)
        {
            if (signed == expected) return;
            failed++;
            Console.WriteLine(title + ": " + signed + " is not " + expected);
        }

        // REQUESTS
        private static void CheckRequest(string title, string[] sent, params string[] expected)
        {
            Check(title, string.Join("\n", sent), string.Join("\n", expected));
        }

        // END REQUESTS
        public static int Main()
        {
            // CASES
            Check(
                "plain",
                Signature.Sign("GET", "/", new[] { new KeyValuePair<string, string>("a", "1") }, null, "key"),
                "033225d7ad9c4ca917bad4f75f322790"
            );
            // END
            Console.WriteLine(failed == 0 ? "all passed" : failed + " failed");
            return failed == 0 ? 0 : 1;
        }
    }
}
