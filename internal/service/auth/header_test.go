package auth

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"landfall"
)

// forged returns Authorization headers that must all get the same answer. The
// test that presents them to an authenticator over a real store uses them too.
func forged() map[string][]string {
	token := accessPrefix + strings.Repeat("7", secretLength)
	segment := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	claims := segment(`{"sub":"Acme","role":"importer","exp":4102444800}`)
	jwt := func(header string) string { return segment(header) + "." + claims + "." }
	_, key := NewKey("Acme", landfall.RoleImporter, time.Time{})
	return map[string][]string{
		"scheme alone, Token":       {"Token"},
		"scheme alone, Bearer":      {"Bearer"},
		"scheme alone, JWT":         {"JWT"},
		"scheme and blank":          {"Bearer  "},
		"unknown token":             {"Token " + token},
		"unknown token, bare":       {token},
		"unknown token, bearer":     {"Bearer " + token},
		"unknown token, jwt":        {"JWT " + token},
		"two headers":               {"Token " + token, "Token " + token},
		"two headers, one blank":    {"Token " + token, ""},
		"two blank headers":         {"", ""},
		"two tokens in one":         {"Token " + token + " " + token},
		"two tokens with a comma":   {"Token " + token + ", Token " + token},
		"two schemes":               {"Token Bearer " + token},
		"basic":                     {"Basic " + base64.StdEncoding.EncodeToString([]byte("admin:admin"))},
		"digest":                    {`Digest username="a", realm="b"`},
		"negotiate":                 {"Negotiate YII="},
		"unknown scheme":            {"Secret " + token},
		"scheme with a colon":       {"Token: " + token},
		"scheme with equals":        {"Token=" + token},
		"tab between":               {"Token\t" + token},
		"no-break space between":    {"Token\u00a0" + token},
		"line feed inside":          {"Token " + token[:20] + "\n" + token[20:]},
		"NUL inside":                {"Token " + token[:20] + "\x00" + token[20:]},
		"NUL behind":                {"Token " + token + "\x00"},
		"quoted":                    {`Token "` + token + `"`},
		"in angle brackets":         {"Token <" + token + ">"},
		"upper case token":          {"Token " + strings.ToUpper(token)},
		"one character less":        {"Token " + token[:len(token)-1]},
		"one character more":        {"Token " + token + "7"},
		"look-alike letter":         {"Token " + token[:len(token)-1] + "l"},
		"refresh token's prefix":    {"Token " + refreshPrefix + token[len(accessPrefix):]},
		"API key itself":            {"Token " + key.Reveal()},
		"API key, bare":             {key.Reveal()},
		"non-ASCII":                 {"Token Tökén"},
		"full-width letters":        {"Token ｌｆａ＿７７７"},
		"bad UTF-8":                 {"Token \xff\xfe\xfd"},
		"8 kB":                      {"Token " + strings.Repeat("7", 8<<10)},
		"8 kB of blanks before":     {"Token " + strings.Repeat(" ", 8<<10) + token},
		"JWT with alg none":         {"JWT " + jwt(`{"alg":"none","typ":"JWT"}`)},
		"JWT with alg NoNe":         {"Bearer " + jwt(`{"alg":"NoNe"}`)},
		"JWT signed with HS256":     {"Bearer " + jwt(`{"alg":"HS256"}`) + segment("signature")},
		"JWT with a key id path":    {"Bearer " + jwt(`{"alg":"HS256","kid":"../../dev/null"}`) + segment("x")},
		"JWT with a key id in SQL":  {"Bearer " + jwt(`{"alg":"HS256","kid":"' UNION SELECT 1 --"}`) + segment("x")},
		"JWT with its own key":      {"Bearer " + jwt(`{"alg":"RS256","jwk":{"kty":"oct","k":"AA"}}`) + segment("x")},
		"JWT with a cut signature":  {"Bearer " + jwt(`{"alg":"RS256"}`)},
		"JWT with doubled claims":   {"Bearer " + segment(`{"alg":"HS256","alg":"none"}`) + "." + claims + "."},
		"SQL":                       {"Token ' OR '1'='1"},
		"template":                  {"Token ${jndi:ldap://127.0.0.1/a}"},
		"the word null":             {"Token null"},
		"the word undefined":        {"Bearer undefined"},
		"hash instead of the token": {"Token " + strings.Repeat("ab", 32)},
	}
}

func TestBearer(t *testing.T) {
	token := accessPrefix + random(secretLength)
	for _, header := range []string{
		token, "Token " + token, "Bearer " + token, "JWT " + token,
		"token " + token, "BEARER " + token, "jwt " + token, "Token   " + token, " Token " + token + "\t",
	} {
		if got, err := bearer([]string{header}); err != nil || got != token {
			t.Errorf("%.12q…: %v", header, err)
		}
	}
	for _, header := range [][]string{nil, {}, {""}, {" "}, {"\t "}} {
		if _, err := bearer(header); !errors.Is(err, missing()) {
			t.Errorf("%q: %v, want not_authenticated", header, err)
		}
	}
	if table := forged(); len(table) < 40 {
		t.Errorf("the table has only %d rows", len(table))
	}
}

// For any input, the result is a well-formed token or one of the two refusals,
// and no refusal repeats the input.
func FuzzBearer(f *testing.F) {
	for _, header := range forged() {
		f.Add(header[0], len(header) > 1)
	}
	f.Add("Token "+accessPrefix+random(secretLength), false)
	f.Fuzz(func(t *testing.T, value string, twice bool) {
		header := []string{value}
		if twice {
			header = append(header, value)
		}
		text, err := bearer(header)
		if err == nil {
			if twice || !isToken(landfall.AccessToken, text) || !strings.HasSuffix(strings.TrimRight(value, " \t"), text) {
				t.Fatalf("%q gives %q", header, text)
			}
			return
		}
		var refusal *landfall.Error
		if !errors.As(err, &refusal) || refusal.Kind != landfall.Unauthenticated || text != "" {
			t.Fatalf("%q gives %v", header, err)
		}
		if len(value) > 30 && strings.Contains(refusal.Error()+refusal.Detail, value) {
			t.Fatalf("the refusal repeats %q", value)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	_, key := NewKey("Acme", landfall.RoleImporter, time.Time{})
	f.Add(key.Reveal())
	f.Add("lf__")
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := parseKey(text)
		if ok && (!inAlphabet(id) || !strings.HasPrefix(text, keyPrefix+id+"_")) {
			t.Fatalf("%q gives %q", text, id)
		}
	})
}
