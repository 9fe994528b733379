package auth

import "testing"

// Common passwords in their usual disguises are refused; phrases and random texts are
// not.
func TestCommonPasswordsAreRecognised(t *testing.T) {
	for _, password := range []string{
		"password1234", "Password1234!", "passwordpassword", "P@ssw0rd2026!", "qwertyuiop12", "qwerty123456", "1q2w3e4r5t6y", "1qaz2wsx3edc", "zaq12wsxcde3",
		"123456789012", "098765432109", "111111111111", "abcdefghijkl", "aaaaaaaaaaaa", "abcabcabcabc", "121212121212", "letmein12345", "welcome12345",
		"iloveyou1234", "iloveyouforever", "Summer2024!!", "Winter-2026-11", "manchesterunited", "liverpool123", "administrator", "admin-admin-1",
		"landfall1234", "Landfall-2026", "trustno1trustno1", "19841105-1984", "monkey123456", "dragon dragon 1", "changeme1234", "ch4ng3m3-2026",
		"ada.lovelace", "lovelace1234", "adalovelace!!", "lovelace-ada-1", "starwars1977!", "password password password", "superman12345",
	} {
		if !isCommon(password, "ada.lovelace") {
			t.Errorf("%q is not refused", password)
		}
	}
	for _, password := range []string{
		"correct horse battery staple", "another long password", "look-f3kq7zm2xvta", "seven otters sing off key", "vK9#tq2LmZ!x", "wir fahren im Mai nach Rügen",
		"ünïcödé-hørse-7", "ledger kettle walnut", "ada likes quiet evenings", "8f2a1c9d7e4b",
	} {
		if isCommon(password, "ada.lovelace") {
			t.Errorf("%q is refused", password)
		}
	}
}
