// HEADER

package signature

import (
	"strings"
	"testing"
)

func check(t *testing.T, title, expected string) func(string, error) {
	return func(signed string, err error) {
		t.Helper()
		if err != nil || signed != expected {
			t.Errorf("%s: %s is not %s, %v", title, signed, expected, err)
		}
	}
}

// REQUESTS
func checkRequest(t *testing.T, title string, expected ...string) func(method, address, body string, err error) {
	return func(method, address, body string, err error) {
		t.Helper()
		check(t, title, strings.Join(expected, "\n"))(strings.Join([]string{method, address, body}, "\n"), err)
	}
}

// END REQUESTS
func TestSignatures(t *testing.T) {
	// CASES
	check(t, "plain", "033225d7ad9c4ca917bad4f75f322790")(Sign("GET", "/", [][2]string{{"a", "1"}}, "", "key"))
	// END
}
