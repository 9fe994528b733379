package console

import (
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// Cookie names. Over TLS they get the __Host- prefix, which browsers accept only
// from the host itself, so that no neighbouring site can set them. Without TLS
// that prefix is not available, and only the machine itself may use the console.
const (
	sessionName = "landfall_session"
	deviceName  = "landfall_device"
	flashName   = "landfall_flash"
	themeName   = "landfall_theme"
	zoneName    = "landfall_zone"
	hostPrefix  = "__Host-"
)

// encrypted reports whether the browser uses TLS. A configured https address is
// trusted: a browser without TLS would not keep a Secure cookie anyway.
func (c *Console) encrypted(r *http.Request) bool {
	return c.Encrypted(r) || len(c.BaseURL) > 8 && c.BaseURL[:8] == "https://"
}

// reachable reports whether the console may be used over this connection: with
// TLS from anywhere, without TLS only from the machine itself under its own name.
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
	// Behind a proxy on this machine that nobody configured, everybody has the
	// machine's address.
	return local && c.ClientAddress(r).IsLoopback() && (c.KnownProxy(r) || !isForwarded(r))
}

// forwardHeaders are the headers by which a proxy says that somebody else is behind it.
var forwardHeaders = []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via"}

// isForwarded reports whether a request came through a proxy.
func isForwarded(r *http.Request) bool {
	return slices.ContainsFunc(forwardHeaders, func(name string) bool { return len(r.Header[name]) > 0 })
}

// cookieName keeps cookies of plain HTTP and of TLS apart.
func (c *Console) cookieName(r *http.Request, name string) string {
	if c.encrypted(r) {
		return hostPrefix + name
	}
	return name
}

func (r *pageRequest) sessionCookie() string { return r.console.cookieName(r.Request, sessionName) }

// sessionSecret is the secret in the session cookie, or "".
func (r *pageRequest) sessionSecret() string {
	cookie, err := r.Cookie(r.sessionCookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// setCookie sets a cookie for some time; 0 means until the browser closes, and a
// negative time deletes it.
func (r *pageRequest) setCookie(name, content string, lifetime time.Duration) {
	// Lax, so that links in emails work. Pages change nothing, and actions from
	// other sites are refused.
	http.SetCookie(r.Writer, &http.Cookie{ //nolint:gosec // Secure wherever the console is served by https
		Name: r.console.cookieName(r.Request, name), Value: content, Path: "/", HttpOnly: true,
		Secure: r.console.encrypted(r.Request), SameSite: http.SameSiteLaxMode, MaxAge: int(lifetime / time.Second),
	})
}

// flash stores a message for the next page.
func (r *pageRequest) flash(message string) {
	if message != "" {
		r.setCookie(flashName, base64.RawURLEncoding.EncodeToString([]byte(message)), time.Minute)
	}
}

// takeFlash returns the stored message and deletes it.
func (r *pageRequest) takeFlash() string {
	cookie, err := r.Cookie(r.console.cookieName(r.Request, flashName))
	if err != nil {
		return ""
	}
	// Delete it first: one that cannot be decoded would come back with every page.
	r.setCookie(flashName, "", -time.Second)
	message, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return ""
	}
	return string(message)
}

// theme is "light" or "dark" if the reader chose one, and "" otherwise.
func (r *pageRequest) theme() string {
	cookie, err := r.Cookie(r.console.cookieName(r.Request, themeName))
	if err != nil || !slices.Contains([]string{"light", "dark"}, cookie.Value) {
		return ""
	}
	return cookie.Value
}

// zone is the reader's time zone as the browser reports it, or UTC.
func (r *pageRequest) zone() *time.Location {
	// The script sets this cookie, so it has no prefix.
	cookie, err := r.Cookie(zoneName)
	if err != nil {
		return time.UTC
	}
	return r.console.zones.find(cookie.Value)
}
