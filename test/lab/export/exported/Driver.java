import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;

public final class Driver {
    interface Rule {
        String sign(String method, String url, List<Map.Entry<String, String>> params, String body,
            String secret);
    }

    static String text(String field) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < field.length(); at += 4) text.append((char) HexFormat.fromHexDigits(field, at, at + 4));
        return text.toString();
    }

    static String units(String text) {
        StringBuilder units = new StringBuilder();
        for (char unit : text.toCharArray()) units.append(String.format("%04x", (int) unit));
        return units.toString();
    }

    static List<Map.Entry<String, String>> pairs(String field) {
        List<Map.Entry<String, String>> pairs = new ArrayList<>();
        for (String pair : field.split(",")) {
            if (pair.isEmpty()) continue;
            String[] parts = pair.split("=", -1);
            pairs.add(Map.entry(text(parts[0]), text(parts[1])));
        }
        return pairs;
    }

    public static void main(String[] args) {
        Map<String, Rule> rules = new TreeMap<>();
        /* rules */
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
        StringBuilder out = new StringBuilder();
        while (lines.hasNextLine()) {
            String[] fields = lines.nextLine().split(" ", -1);
            try {
                String done = rules.get(fields[0]).sign(text(fields[1]), text(fields[2]), pairs(fields[5]),
                    fields[3].equals("-") ? null : text(fields[3]), text(fields[4]));
                out.append(units(done)).append('\n');
            } catch (IllegalArgumentException e) {
                out.append('!').append(units(e.getMessage())).append('\n');
            }
        }
        System.out.print(out);
    }
}
