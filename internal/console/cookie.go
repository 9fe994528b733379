package console

import (
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// The cookies. By TLS they carry the prefix that browsers only accept from the
// very host, with Secure and for the whole of it, so that nobody beside us can
// plant one. Without TLS that prefix cannot be had, and the console is for the
// machine's own people then.
const (
	sessionName = "landfall_session"
	flashName   = "landfall_flash"
	themeName   = "landfall_theme"
	zoneName    = "landfall_zone"
	hostPrefix  = "__Host-"
)

// encrypted says whether the browser's end of the line is TLS. An address that
// the operator gave as https is believed: a browser that came without TLS keeps
// no Secure cookie, so it would only fail to sign in.
func (c *Console) encrypted(r *http.Request) bool {
	return c.Encrypted(r) || len(c.BaseURL) > 8 && c.BaseURL[:8] == "https://"
}

// reachable says whether the console may be used over this connection: by TLS
// from anywhere, without only from the machine itself by the machine's own name.
func (c *Console) reachable(r *http.Request) bool {
	if c.encrypted(r) {
		return true
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	address, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && address.IsLoopback()
	return local && c.ClientAddress(r).IsLoopback()
}

// cookieName keeps the names of both ways apart: a session that came by plain HTTP can never
// stand in for one by TLS.
func (c *Console) cookieName(r *http.Request, name string) string {
	if c.encrypted(r) {
		return hostPrefix + name
	}
	return name
}

func (r *pageRequest) sessionCookie() string { return r.console.cookieName(r.Request, sessionName) }

// setCookie gives the browser a cookie, for so long; 0 until it is closed, and less
// takes it away.
func (r *pageRequest) setCookie(name, value string, length time.Duration) {
	// Lax, so that a link in a mail opens the page it names: pages change
	// nothing, and acts are refused when another site sends them.
	http.SetCookie(r.Writer, &http.Cookie{ //nolint:gosec // Secure wherever the console is served by https
		Name: r.console.cookieName(r.Request, name), Value: value, Path: "/", HttpOnly: true,
		Secure: r.console.encrypted(r.Request), SameSite: http.SameSiteLaxMode, MaxAge: int(length / time.Second),
	})
}

// flash keeps a sentence for the next page.
func (r *pageRequest) flash(sentence string) {
	if sentence != "" {
		r.setCookie(flashName, base64.RawURLEncoding.EncodeToString([]byte(sentence)), time.Minute)
	}
}

// takeFlash gives what the page before had to say, once.
func (r *pageRequest) takeFlash() string {
	cookie, err := r.Cookie(r.console.cookieName(r.Request, flashName))
	if err != nil {
		return ""
	}
	// Taken away before it is read: one that cannot be decoded would come back with every page.
	r.setCookie(flashName, "", -time.Second)
	sentence, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return ""
	}
	return string(sentence)
}

// theme is light or dark where somebody chose, and "" where the system does.
func (r *pageRequest) theme() string {
	cookie, err := r.Cookie(r.console.cookieName(r.Request, themeName))
	if err != nil || !slices.Contains([]string{"light", "dark"}, cookie.Value) {
		return ""
	}
	return cookie.Value
}

// zone is the reader's time zone, as the browser says, or UTC.
func (r *pageRequest) zone() string {
	// The script writes it, and nothing hangs on it, so it has no prefix.
	cookie, err := r.Cookie(zoneName)
	// Local names the zone of this host and not of the reader. The bound keeps what a visitor
	// sends from being looked for on disk at any length.
	if err != nil || len(cookie.Value) > 64 || cookie.Value == "Local" {
		return "UTC"
	}
	if _, err := time.LoadLocation(cookie.Value); err != nil || cookie.Value == "" {
		return "UTC"
	}
	return cookie.Value
}
