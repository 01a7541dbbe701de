// HEADER
package signing;

import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Base64;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Signature {
    private Signature() {}

    /**
     * Method, URL and body of "read" or "passback", as they are sent. query: from tenant_code on; random and
     * timestamp where they are not to be new. fields: those of the form of a passback.
     */
    public static String[] signedRequest(String operation, String baseUrl,
            List<Map.Entry<String, String>> query, List<Map.Entry<String, String>> fields, String secret) {
        boolean isRead = operation.equals("read");
        if (!isRead && !operation.equals("passback")) throw new IllegalArgumentException(operation);
        String method = isRead ? "GET" : "PUT";
        String url = baseUrl + "/api/v1/server/user/" + (isRead ? "user_info_for_third" : "passback_user_info") + "?";
        byte[] random = new byte[8];
        new SecureRandom().nextBytes(random);
        List<Map.Entry<String, String>> signed = new ArrayList<>(query);
        addMissing(signed, "random", HexFormat.of().formatHex(random));
        addMissing(signed, "timestamp", Long.toString(Instant.now().getEpochSecond()));
        String body = encodePairs(fields);
        List<Map.Entry<String, String>> params = new ArrayList<>(signed);
        params.addAll(fields);
        String first = appSign(method, url + encodePairs(signed), params, body, secret);
        params.add(signed.size(), Map.entry("app_sign", first));
        signed.add(Map.entry("app_sign", first));
        String second = sign(method, url + encodePairs(signed), params, body, secret);
        signed.add(Map.entry("sign", second));
        return new String[] { method, url + encodePairs(signed), body };
    }

    /** params: the decoded parameters in the order of the request, without sign. */
    public static String sign(String method, String url, List<Map.Entry<String, String>> params,
            String body, String secret) {
        // RULE
        BinaryOperator<String> pair = (name, value) -> name + "=" + form(value);
        List<Map.Entry<String, String>> pairs = sortBy(params, pair);
        return toHex(digest("MD5", utf8(joinPairs(pairs, "&", pair) + secret)));
    }

    /** In place of appSign where a rule has one signature. */
    public static String appSign(String method, String url, List<Map.Entry<String, String>> params,
            String body, String secret) {
        return sign(method, url, params, body, secret);
    }

    private static void addMissing(List<Map.Entry<String, String>> pairs, String name, String value) {
        if (pairs.stream().noneMatch(pair -> pair.getKey().equals(name))) pairs.add(Map.entry(name, value));
    }

    private static String encodePairs(List<Map.Entry<String, String>> pairs) {
        return joinPairs(pairs, "&", (name, value) -> rfc3986(name) + "=" + rfc3986(value));
    }

    private static List<Map.Entry<String, String>> upperNames(List<Map.Entry<String, String>> pairs) {
        return pairs.stream().map(pair -> Map.entry(upper(pair.getKey()), pair.getValue())).toList();
    }

    private static List<Map.Entry<String, String>> only(
            List<Map.Entry<String, String>> pairs, List<String> names) {
        return pairs.stream().filter(pair -> names.contains(pair.getKey())).toList();
    }

    private static List<Map.Entry<String, String>> without(
            List<Map.Entry<String, String>> pairs, List<String> names) {
        return pairs.stream().filter(pair -> !names.contains(pair.getKey())).toList();
    }

    /** The fields of a form; those of the query where there is no form. */
    private static List<Map.Entry<String, String>> formOrQuery(
            List<Map.Entry<String, String>> pairs, List<String> names) {
        List<Map.Entry<String, String>> fields = only(pairs, names);
        return fields.isEmpty() ? pairs : fields;
    }

    private static List<Map.Entry<String, String>> reversedPairs(List<Map.Entry<String, String>> pairs) {
        List<Map.Entry<String, String>> reversed = new ArrayList<>(pairs);
        Collections.reverse(reversed);
        return reversed;
    }

    private static List<Map.Entry<String, String>> dropEmpty(List<Map.Entry<String, String>> pairs) {
        return pairs.stream().filter(pair -> !pair.getValue().isEmpty()).toList();
    }

    private static List<Map.Entry<String, String>> withPair(
            List<Map.Entry<String, String>> pairs, String name, String value) {
        List<Map.Entry<String, String>> all = new ArrayList<>(pairs);
        all.add(Map.entry(name, value));
        return all;
    }

    /** The pairs of these names, in their order. */
    private static List<Map.Entry<String, String>> inOrder(
            List<Map.Entry<String, String>> pairs, List<String> names) {
        return pairs.stream().filter(pair -> names.contains(pair.getKey()))
            .sorted(Comparator.comparing(pair -> names.indexOf(pair.getKey()))).toList();
    }

    private static List<Map.Entry<String, String>> sortBy(
            List<Map.Entry<String, String>> pairs, BinaryOperator<String> key) {
        return pairs.stream()
            .sorted(Comparator.comparing(pair -> key.apply(pair.getKey(), pair.getValue()))).toList();
    }

    private static String joinPairs(
            List<Map.Entry<String, String>> pairs, String separator, BinaryOperator<String> write) {
        return pairs.stream().map(pair -> write.apply(pair.getKey(), pair.getValue()))
            .collect(Collectors.joining(separator));
    }

    /** The first parameter of this name. */
    private static String param(List<Map.Entry<String, String>> params, String name) {
        return params.stream().filter(pair -> pair.getKey().equals(name)).map(Map.Entry::getValue).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("the parameter " + name + " is missing"));
    }

    private static String textOf(String body) {
        return body == null ? "" : body;
    }

    private static String queryOf(String url) {
        return url.contains("?") ? url.substring(url.indexOf('?') + 1) : "";
    }

    private static String withoutQuery(String url) {
        return url.split("[?]", 2)[0];
    }

    private static String host(String url) {
        Matcher found = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://([^/]*)").matcher(url);
        return found.lookingAt() ? found.group(1) : "";
    }

    private static String path(String url) {
        Matcher found = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://[^/]*(.*)", Pattern.DOTALL).matcher(url);
        if (!found.matches()) return url;
        return found.group(1).isEmpty() ? "/" : found.group(1);
    }

    private static String fromSegment(String text, String segment) {
        return text.substring(Math.max(0, text.indexOf(segment)));
    }

    private static String upper(String text) {
        return text.toUpperCase(Locale.ROOT);
    }

    /** Lower case as in Unicode: toLowerCase goes on beyond hyphens and digits to find where a word ends with sigma. */
    private static String lower(String text) {
        String cased = "[\\p{Lu}\\p{Ll}\\p{Lt}\\x{aa}\\x{ba}\\x{2160}-\\x{217f}\\x{24b6}-\\x{24e9}"
            + "\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}]";
        String ignored = "[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}'.:\\x{b7}\\x{387}\\x{55f}\\x{5f4}\\x{2018}\\x{2019}"
            + "\\x{2024}\\x{2027}\\x{fe13}\\x{fe52}\\x{fe55}\\x{ff07}\\x{ff0e}\\x{ff1a}]*+";
        return text.replaceAll("(" + cased + ignored + ")\u03a3(?!" + ignored + cased + ")", "$1\u03c2")
            .replace('\u03a3', '\u03c3').toLowerCase(Locale.ROOT);
    }

    private static String lowerAscii(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    private static String cut(String text, int start, int end) {
        return text.substring(Math.min(start, text.length()), Math.min(end, text.length()));
    }

    private static String form(String text) {
        return URLEncoder.encode(new String(utf8(text), StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    private static String formPhp(String text) {
        return form(text).replace("*", "%2A");
    }

    private static String formPython(String text) {
        return formPhp(text).replace("%7E", "~");
    }

    private static String formDotnet(String text) {
        Matcher escapes = Pattern.compile("%..").matcher(form(text));
        String escaped = escapes.replaceAll(found -> found.group().toLowerCase(Locale.ROOT));
        return escaped.replace("%21", "!").replace("%28", "(").replace("%29", ")");
    }

    private static String rfc3986(String text) {
        return form(text).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    private static String javascript(String text) {
        return form(text).replace("+", "%20").replace("%7E", "~").replace("%21", "!").replace("%27", "'")
                .replace("%28", "(").replace("%29", ")");
    }

    /** UTF-8; U+FFFD for an unpaired surrogate, where getBytes writes "?". */
    private static byte[] utf8(String text) {
        int[] points = text.codePoints().map(point -> point >= 0xd800 && point <= 0xdfff ? 0xfffd : point).toArray();
        return new String(points, 0, points.length).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] concat(List<byte[]> parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parts.forEach(all::writeBytes);
        return all.toByteArray();
    }

    private static byte[] fromHex(String text) {
        if (!text.matches("(?:[0-9A-Fa-f]{2})*")) throw new IllegalArgumentException("the key is not hex");
        return HexFormat.of().parseHex(text);
    }

    private static byte[] fromBase64(String text) {
        if (!text.matches("(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}")) {
            throw new IllegalArgumentException("the key is not base64");
        }
        return Base64.getDecoder().decode(text.replace("=", "").replace('-', '+').replace('_', '/'));
    }

    private static byte[] digest(String algorithm, byte[] data) {
        try {
            return MessageDigest.getInstance(algorithm).digest(data);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] keyedDigest(String algorithm, byte[] key, byte[] data) {
        try {
            Mac mac = Mac.getInstance(algorithm);
            // An empty key is that of one zero byte, which Java takes.
            mac.init(new SecretKeySpec(key.length == 0 ? new byte[1] : key, algorithm));
            return mac.doFinal(data);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String toHex(byte[] data) {
        return HexFormat.of().formatHex(data);
    }

    private static String toBase64(byte[] data) {
        return Base64.getEncoder().encodeToString(data);
    }

    private static String toBase64url(byte[] data) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(data);
    }
}
