import java.util.List;
import java.util.Map;
import signing.Signature;

public final class Caller {
    public static void main(String[] args) {
        List<Map.Entry<String, String>> query =
            List.of(Map.entry("tenant_code", "acme"), Map.entry("app_key", "app-1"));
        String[] sent = Signature.signedRequest("passback", "https://h/p", query, List.of(Map.entry("f", "c 1/2")), "s");
        System.out.println("SENT " + String.join(" ", sent));
    }
}
