// HEADER

package signature

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
)

// SignedRequest is method, URL and body of "read" or "passback", as they are sent. query: from tenant_code on; random
// and timestamp where they are not to be new. fields: those of the form of a passback.
func SignedRequest(operation, baseURL string, query, fields [][2]string, secret string) (method, address, body string, err error) {
	endpoints := map[string][2]string{
		"read":     {"GET", "/api/v1/server/user/user_info_for_third"},
		"passback": {"PUT", "/api/v1/server/user/passback_user_info"},
	}
	endpoint, known := endpoints[operation]
	if !known {
		return "", "", "", errors.New("no operation " + operation)
	}
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		return "", "", "", err
	}
	method = endpoint[0]
	signed := append([][2]string{}, query...)
	signed = addMissing(signed, "random", hex.EncodeToString(random))
	signed = addMissing(signed, "timestamp", strconv.FormatInt(time.Now().Unix(), 10))
	body = encodePairs(fields)
	address = baseURL + endpoint[1] + "?"
	params := append(append([][2]string{}, signed...), fields...)
	signature, err := AppSign(method, address+encodePairs(signed), params, body, secret)
	if err != nil {
		return "", "", "", err
	}
	signed = append(signed, [2]string{"app_sign", signature})
	params = append(append([][2]string{}, signed...), fields...)
	signature, err = Sign(method, address+encodePairs(signed), params, body, secret)
	signed = append(signed, [2]string{"sign", signature})
	return method, address + encodePairs(signed), body, err
}

// Sign takes the decoded params in the order of the request, without sign.
func Sign(method, url string, params [][2]string, body, secret string) (signature string, err error) {
	defer failing(&err)
	// RULE
	pair := func(name, value string) string {
		return name + "=" + value
	}
	pairs := sortBy(params, pair)
	message := joinPairs(pairs, "&", pair) + secret
	return toHex(digest(md5.New, utf8(message))), nil
}

// AppSign is there in place of app_sign where a rule has one signature.
func AppSign(method, url string, params [][2]string, body, secret string) (string, error) {
	return Sign(method, url, params, body, secret)
}

// failing makes an error of a missing value or a wrong key.
func failing(err *error) {
	problem := recover()
	if text, ok := problem.(string); ok {
		*err = errors.New(text)
	} else if problem != nil {
		panic(problem)
	}
}

func addMissing(pairs [][2]string, name, value string) [][2]string {
	for _, pair := range pairs {
		if pair[0] == name {
			return pairs
		}
	}
	return append(pairs, [2]string{name, value})
}

func encodePairs(pairs [][2]string) string {
	return joinPairs(pairs, "&", func(name, value string) string { return rfc3986(name) + "=" + rfc3986(value) })
}

func mapNames(pairs [][2]string, change func(string) string) [][2]string {
	var changed [][2]string
	for _, pair := range pairs {
		changed = append(changed, [2]string{change(pair[0]), pair[1]})
	}
	return changed
}

func upperNames(pairs [][2]string) [][2]string {
	return mapNames(pairs, upper)
}

func filter(pairs [][2]string, keeps func(name, value string) bool) [][2]string {
	var kept [][2]string
	for _, pair := range pairs {
		if keeps(pair[0], pair[1]) {
			kept = append(kept, pair)
		}
	}
	return kept
}

// contains tells whether a name is one of these.
func contains(names []string, name string) bool {
	for _, known := range names {
		if name == known {
			return true
		}
	}
	return false
}

func only(pairs [][2]string, names []string) [][2]string {
	return filter(pairs, func(name, value string) bool { return contains(names, name) })
}

func without(pairs [][2]string, names []string) [][2]string {
	return filter(pairs, func(name, value string) bool { return !contains(names, name) })
}

// formOrQuery is the fields of a form; those of the query where there is no form.
func formOrQuery(pairs [][2]string, names []string) [][2]string {
	if fields := only(pairs, names); len(fields) > 0 {
		return fields
	}
	return pairs
}

func reversedPairs(pairs [][2]string) [][2]string {
	var reversed [][2]string
	for at := len(pairs) - 1; at >= 0; at-- {
		reversed = append(reversed, pairs[at])
	}
	return reversed
}

func dropEmpty(pairs [][2]string) [][2]string {
	return filter(pairs, func(name, value string) bool { return value != "" })
}

func withPair(pairs [][2]string, name, value string) [][2]string {
	return append(append([][2]string{}, pairs...), [2]string{name, value})
}

// inOrder is the pairs of these names, in their order.
func inOrder(pairs [][2]string, names []string) [][2]string {
	var ordered [][2]string
	for _, wanted := range names {
		ordered = append(ordered, filter(pairs, func(name, value string) bool { return name == wanted })...)
	}
	return ordered
}

// sortBy sorts by UTF-16 code unit.
func sortBy(pairs [][2]string, key func(name, value string) string) [][2]string {
	sorted := append([][2]string{}, pairs...)
	sort.SliceStable(sorted, func(i, j int) bool {
		return utf16Less(key(sorted[i][0], sorted[i][1]), key(sorted[j][0], sorted[j][1]))
	})
	return sorted
}

// utf16Less compares texts by UTF-16 code unit.
func utf16Less(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

func joinPairs(pairs [][2]string, separator string, write func(name, value string) string) string {
	var texts []string
	for _, pair := range pairs {
		texts = append(texts, write(pair[0], pair[1]))
	}
	return strings.Join(texts, separator)
}

// param is the first parameter of this name.
func param(params [][2]string, name string) string {
	for _, pair := range params {
		if pair[0] == name {
			return pair[1]
		}
	}
	panic("the parameter " + name + " is missing")
}

func queryOf(url string) string {
	_, query, _ := strings.Cut(url, "?")
	return query
}

func withoutQuery(url string) string {
	before, _, _ := strings.Cut(url, "?")
	return before
}

func host(url string) string {
	found := regexp.MustCompile("^[A-Za-z][A-Za-z0-9+.-]*://([^/]*)").FindStringSubmatch(url)
	if found == nil {
		return ""
	}
	return found[1]
}

func path(url string) string {
	found := regexp.MustCompile("(?s)^[A-Za-z][A-Za-z0-9+.-]*://[^/]*(.*)$").FindStringSubmatch(url)
	if found == nil {
		return url
	}
	if found[1] == "" {
		return "/"
	}
	return found[1]
}

func fromSegment(text, segment string) string {
	at := strings.Index(text, segment)
	if at < 0 {
		return text
	}
	return text[at:]
}

// upper is the upper case of Unicode: strings.ToUpper does not know letters whose upper case is several.
func upper(text string) string {
	return strings.ToUpper(longUpperCases.Replace(text))
}

var longUpperCases = strings.NewReplacer(
	"\u00df", "SS", "\u0149", "\u02bcN", "\u01f0", "J\u030c", "\u0390", "\u0399\u0308\u0301",
	"\u03b0", "\u03a5\u0308\u0301", "\u0587", "\u0535\u0552", "\u1e96", "H\u0331", "\u1e97", "T\u0308",
	"\u1e98", "W\u030a", "\u1e99", "Y\u030a", "\u1e9a", "A\u02be", "\u1f50", "\u03a5\u0313",
	"\u1f52", "\u03a5\u0313\u0300", "\u1f54", "\u03a5\u0313\u0301", "\u1f56", "\u03a5\u0313\u0342",
	"\u1f80", "\u1f08\u0399", "\u1f81", "\u1f09\u0399", "\u1f82", "\u1f0a\u0399",
	"\u1f83", "\u1f0b\u0399", "\u1f84", "\u1f0c\u0399", "\u1f85", "\u1f0d\u0399",
	"\u1f86", "\u1f0e\u0399", "\u1f87", "\u1f0f\u0399", "\u1f88", "\u1f08\u0399",
	"\u1f89", "\u1f09\u0399", "\u1f8a", "\u1f0a\u0399", "\u1f8b", "\u1f0b\u0399",
	"\u1f8c", "\u1f0c\u0399", "\u1f8d", "\u1f0d\u0399", "\u1f8e", "\u1f0e\u0399",
	"\u1f8f", "\u1f0f\u0399", "\u1f90", "\u1f28\u0399", "\u1f91", "\u1f29\u0399",
	"\u1f92", "\u1f2a\u0399", "\u1f93", "\u1f2b\u0399", "\u1f94", "\u1f2c\u0399",
	"\u1f95", "\u1f2d\u0399", "\u1f96", "\u1f2e\u0399", "\u1f97", "\u1f2f\u0399",
	"\u1f98", "\u1f28\u0399", "\u1f99", "\u1f29\u0399", "\u1f9a", "\u1f2a\u0399",
	"\u1f9b", "\u1f2b\u0399", "\u1f9c", "\u1f2c\u0399", "\u1f9d", "\u1f2d\u0399",
	"\u1f9e", "\u1f2e\u0399", "\u1f9f", "\u1f2f\u0399", "\u1fa0", "\u1f68\u0399",
	"\u1fa1", "\u1f69\u0399", "\u1fa2", "\u1f6a\u0399", "\u1fa3", "\u1f6b\u0399",
	"\u1fa4", "\u1f6c\u0399", "\u1fa5", "\u1f6d\u0399", "\u1fa6", "\u1f6e\u0399",
	"\u1fa7", "\u1f6f\u0399", "\u1fa8", "\u1f68\u0399", "\u1fa9", "\u1f69\u0399",
	"\u1faa", "\u1f6a\u0399", "\u1fab", "\u1f6b\u0399", "\u1fac", "\u1f6c\u0399",
	"\u1fad", "\u1f6d\u0399", "\u1fae", "\u1f6e\u0399", "\u1faf", "\u1f6f\u0399",
	"\u1fb2", "\u1fba\u0399", "\u1fb3", "\u0391\u0399", "\u1fb4", "\u0386\u0399",
	"\u1fb6", "\u0391\u0342", "\u1fb7", "\u0391\u0342\u0399", "\u1fbc", "\u0391\u0399",
	"\u1fc2", "\u1fca\u0399", "\u1fc3", "\u0397\u0399", "\u1fc4", "\u0389\u0399",
	"\u1fc6", "\u0397\u0342", "\u1fc7", "\u0397\u0342\u0399", "\u1fcc", "\u0397\u0399",
	"\u1fd2", "\u0399\u0308\u0300", "\u1fd3", "\u0399\u0308\u0301", "\u1fd6", "\u0399\u0342",
	"\u1fd7", "\u0399\u0308\u0342", "\u1fe2", "\u03a5\u0308\u0300", "\u1fe3", "\u03a5\u0308\u0301",
	"\u1fe4", "\u03a1\u0313", "\u1fe6", "\u03a5\u0342", "\u1fe7", "\u03a5\u0308\u0342",
	"\u1ff2", "\u1ffa\u0399", "\u1ff3", "\u03a9\u0399", "\u1ff4", "\u038f\u0399",
	"\u1ff6", "\u03a9\u0342", "\u1ff7", "\u03a9\u0342\u0399", "\u1ffc", "\u03a9\u0399", "\ufb00", "FF",
	"\ufb01", "FI", "\ufb02", "FL", "\ufb03", "FFI", "\ufb04", "FFL", "\ufb05", "ST", "\ufb06", "ST",
	"\ufb13", "\u0544\u0546", "\ufb14", "\u0544\u0535", "\ufb15", "\u0544\u053b",
	"\ufb16", "\u054e\u0546", "\ufb17", "\u0544\u053d",
)

// lower is the lower case of Unicode: strings.ToLower does not know the sigma that ends a word.
func lower(text string) string {
	runes := []rune(text)
	out := make([]rune, 0, len(runes))
	for i, r := range runes {
		switch {
		case r == 0x130:
			out = append(out, 'i', 0x307)
		case r == 0x3a3 && besideCased(runes, i, -1) && !besideCased(runes, i, 1):
			out = append(out, 0x3c2)
		default:
			out = append(out, unicode.ToLower(r))
		}
	}
	return string(out)
}

func besideCased(runes []rune, i, step int) bool {
	for i += step; i >= 0 && i < len(runes); i += step {
		r := runes[i]
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) {
			continue
		}
		if strings.ContainsRune(ignoredMarks, r) {
			continue
		}
		return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Uppercase, unicode.Other_Lowercase)
	}
	return false
}

const ignoredMarks = "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a"

func upperAscii(text string) string {
	return strings.ToUpper(text)
}

func lowerAscii(text string) string {
	return strings.ToLower(text)
}

func cut(text string, start, end int) string {
	if end > len(text) {
		end = len(text)
	}
	if start > end {
		start = end
	}
	return text[start:end]
}

func form(text string) string {
	return strings.NewReplacer("~", "%7E", "%2A", "*").Replace(url.QueryEscape(text))
}

func formPhp(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "~", "%7E")
}

func formPython(text string) string {
	return url.QueryEscape(text)
}

func formDotnet(text string) string {
	escaped := regexp.MustCompile("%..").ReplaceAllStringFunc(url.QueryEscape(text), strings.ToLower)
	return strings.NewReplacer("~", "%7e", "%21", "!", "%28", "(", "%29", ")", "%2a", "*").Replace(escaped)
}

func rfc3986(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

func javascript(text string) string {
	kept := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	return kept.Replace(url.QueryEscape(text))
}

func utf8(text string) []byte {
	return []byte(text)
}

func concat(parts [][]byte) []byte {
	return bytes.Join(parts, nil)
}

func fromHex(text string) []byte {
	data, err := hex.DecodeString(text)
	if err != nil {
		panic("the key is not hex")
	}
	return data
}

func fromBase64(text string) []byte {
	if !regexp.MustCompile("^(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}$").MatchString(text) {
		panic("the key is not base64")
	}
	digits := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	data, err := base64.RawStdEncoding.DecodeString(digits)
	if err != nil {
		panic("the key is not base64")
	}
	return data
}

func digest(algorithm func() hash.Hash, data []byte) []byte {
	digest := algorithm()
	digest.Write(data)
	return digest.Sum(nil)
}

func keyedDigest(algorithm func() hash.Hash, key, data []byte) []byte {
	digest := hmac.New(algorithm, key)
	digest.Write(data)
	return digest.Sum(nil)
}

func toHex(data []byte) string {
	return hex.EncodeToString(data)
}

func toBase64(data []byte) string {
	return base64.StdEncoding.EncodeToString(data)
}

func toBase64url(data []byte) string {
	return base64.RawURLEncoding.EncodeToString(data)
}

// What the rule above does not use.
var algorithms = []func() hash.Hash{sha1.New, sha256.New, sha512.New384, sha512.New}
