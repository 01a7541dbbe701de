import java.util.List;
import java.util.Map;
import signing.Signature;

public final class Caller {
    public static void main(String[] args) {
        List<Map.Entry<String, String>> query =
            List.of(Map.entry("tenant_code", "acme"), Map.entry("app_key", "app-1"), Map.entry("code", "c 1/2"));
        Signature.signedQuery("PUT", "https://h/p", query, List.of(Map.entry("f", "1")), null, "s")
            .forEach(System.out::println);
    }
}
