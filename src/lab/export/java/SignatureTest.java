// HEADER
package signing;

import java.util.List;
import java.util.Map;

public final class SignatureTest {
    private static int failed = 0;

    private static void check(String title, String signed, String expected) {
        if (signed.equals(expected)) return;
        failed++;
        System.out.println(title + ": " + signed + " is not " + expected);
    }

    // REQUESTS
    private static void checkRequest(String title, String[] sent, String... expected) {
        check(title, String.join("\n", sent), String.join("\n", expected));
    }

    // END REQUESTS
    public static void main(String[] args) {
        // CASES
        check(
            "plain",
            Signature.sign("GET", "/", List.of(Map.entry("a", "1")), null, "key"),
            "033225d7ad9c4ca917bad4f75f322790"
        );
        // END
        System.out.println(failed == 0 ? "all passed" : failed + " failed");
        if (failed > 0) System.exit(1);
    }
}
