package console

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/outbound/identity"
)

// testProvider is a small OpenID Connect provider. It signs everybody in as the person
// it has, and issues a token only to a client that knows the PKCE verifier.
type testProvider struct {
	*httptest.Server
	key    *rsa.PrivateKey
	claims map[string]any // added to each token
	codes  map[string]url.Values
}

func newTestProvider(t *testing.T) *testProvider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &testProvider{key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	reply := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value)
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"keys": []any{map[string]string{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		if asked.Get("response_type") != "code" || asked.Get("client_id") != "landfall" || asked.Get("code_challenge_method") != "S256" {
			http.Error(w, "no such client, or no PKCE", http.StatusBadRequest)
			return
		}
		code := rand.Text()
		p.codes[code] = asked
		http.Redirect(w, r, asked.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode(), http.StatusSeeOther)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		asked, known := p.codes[r.FormValue("code")]
		delete(p.codes, r.FormValue("code"))
		hash := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if _, secret, _ := r.BasicAuth(); !known || secret != "hush" || base64.RawURLEncoding.EncodeToString(hash[:]) != asked.Get("code_challenge") {
			w.WriteHeader(http.StatusBadRequest)
			reply(w, map[string]string{"error": "invalid_grant"})
			return
		}
		claims := map[string]any{"iss": p.URL, "aud": "landfall", "sub": "1", "nonce": asked.Get("nonce"), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
		maps.Copy(claims, p.claims)
		reply(w, map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": p.sign(claims)})
	})
	return p
}

func (p *testProvider) sign(claims map[string]any) string {
	body, _ := json.Marshal(claims)
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"one"}`)) + "." + base64.RawURLEncoding.EncodeToString(body)
	hash := sha256.Sum256([]byte(text))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, hash[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// People sign in with a provider, under the name in a claim, if they were invited.
func TestSigningInWithAProvider(t *testing.T) {
	h, p := newTestConsole(t), newTestProvider(t)
	h.console.Provider = identity.New(identity.Options{Issuer: p.URL, ClientID: "landfall", Secret: "hush", Claim: "email"})
	if _, err := h.operator().CreateOperator(t.Context(), "ada@example.com", landfall.ConsoleSupport); err != nil {
		t.Fatal(err)
	}
	h.anonymous().wantPage("/console/sign-in/", "Sign in with your organisation")
	for _, one := range []struct {
		name   string
		claims map[string]any
		says   string
	}{
		{"an invited person", map[string]any{"email": "Ada@Example.com", "email_verified": true}, "ada@example.com"},
		{"an unknown person", map[string]any{"email": "eve@example.com", "email_verified": true}, "Ask an administrator to invite eve@example.com"},
		{"an address that is not verified", map[string]any{"email": "ada@example.com"}, "has not verified your e-mail address"},
		{"a token for another client", map[string]any{"email": "ada@example.com", "email_verified": true, "aud": "other"}, "is not valid"},
		{"an expired token", map[string]any{"email": "ada@example.com", "email_verified": true, "exp": 1}, "is not valid"},
		{"a token of another sign-in", map[string]any{"email": "ada@example.com", "email_verified": true, "nonce": "other"}, "belongs to another sign-in"},
	} {
		p.claims = one.claims
		browser := h.anonymous()
		_, body := browser.get("/console/sign-in/provider/")
		if !strings.Contains(body, one.says) {
			t.Errorf("%s: lacks %q\n%s", one.name, one.says, body)
		}
		if status, _ := browser.get("/console/me/"); one.name == "an invited person" {
			browser.wantPage("/console/me/", "ada@example.com")
		} else if _, body := browser.get("/console/me/"); status != http.StatusOK || !strings.Contains(body, "Password") || strings.Contains(body, "This session") {
			t.Errorf("%s is signed in", one.name)
		}
	}
	// A code that somebody else obtained does not sign in: the browser lacks the state.
	p.claims = map[string]any{"email": "ada@example.com", "email_verified": true}
	if status, body := h.anonymous().get("/console/sign-in/provider/callback/?code=stolen&state=guessed"); status != http.StatusUnauthorized || !strings.Contains(body, "began in another browser") {
		t.Errorf("%d\n%s", status, body)
	}
	if err := h.operator().DisableOperator(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	if _, body := h.anonymous().get("/console/sign-in/provider/"); !strings.Contains(body, "was disabled") {
		t.Errorf("a disabled operator signed in\n%s", body)
	}
	p.Close()
	h.console.Provider = identity.New(identity.Options{Issuer: p.URL, ClientID: "landfall", Claim: "email"})
	if status, body := h.anonymous().get("/console/sign-in/provider/"); status != http.StatusServiceUnavailable || !strings.Contains(body, "cannot be reached") {
		t.Errorf("%d\n%s", status, body)
	}
}
