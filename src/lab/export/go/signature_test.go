// HEADER

package signature

import "testing"

func check(t *testing.T, title, expected string) func(string, error) {
	return func(signed string, err error) {
		t.Helper()
		if err != nil || signed != expected {
			t.Errorf("%s: %s is not %s, %v", title, signed, expected, err)
		}
	}
}

func TestSignatures(t *testing.T) {
	// CASES
	check(t, "plain", "033225d7ad9c4ca917bad4f75f322790")(Sign("GET", "/", [][2]string{{"a", "1"}}, "", "key"))
	// END
}
