package app

import (
	"net/http"
	"strings"
	"testing"
)

// Callers can write any header, so the caller's address is taken from one only as
// far as known proxies wrote it.
func TestForwardedAddressesCountOnlyFromKnownProxies(t *testing.T) {
	known, err := parseProxies("10.0.0.7, 192.168.0.0/16,fd00::/8")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		known     trustedProxies
		peer      string
		forwarded []string
		want      string
	}{
		"nobody is known":             {nil, "203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		"a stranger's word":           {known, "203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		"a proxy's word":              {known, "10.0.0.7:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"a proxy without a word":      {known, "10.0.0.7:1", nil, "10.0.0.7"},
		"two proxies":                 {known, "10.0.0.7:1", []string{"198.51.100.1, 192.168.3.4"}, "198.51.100.1"},
		"on two lines":                {known, "10.0.0.7:1", []string{"198.51.100.1", "192.168.3.4"}, "198.51.100.1"},
		"the caller lied to a proxy":  {known, "10.0.0.7:1", []string{"127.0.0.1, 10.0.0.7, 198.51.100.1"}, "198.51.100.1"},
		"lies on an earlier line":     {known, "10.0.0.7:1", []string{"127.0.0.1", "198.51.100.1"}, "198.51.100.1"},
		"nonsense behind a proxy":     {known, "10.0.0.7:1", []string{"198.51.100.1, unknown"}, "10.0.0.7"},
		"nonsense behind two":         {known, "10.0.0.7:1", []string{"<script>, 192.168.3.4"}, "192.168.3.4"},
		"an empty word":               {known, "10.0.0.7:1", []string{""}, "10.0.0.7"},
		"a port":                      {known, "10.0.0.7:1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		"all are proxies":             {known, "10.0.0.7:1", []string{"192.168.1.1"}, "192.168.1.1"},
		"IPv6":                        {known, "[fd00::1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
		"IPv6 in brackets":            {known, "[fd00::1]:1", []string{"[2001:db8::1]:443"}, "2001:db8::1"},
		"IPv4 through an IPv6 socket": {known, "[::ffff:10.0.0.7]:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
	} {
		t.Run(name, func(t *testing.T) {
			request := &http.Request{RemoteAddr: test.peer, Header: http.Header{"X-Forwarded-For": test.forwarded}}
			request.Header.Set("Forwarded", "for=127.0.0.2")
			if got := test.known.client(request); got.String() != test.want {
				t.Errorf("the caller is %s, want %s", got, test.want)
			}
		})
	}
}

// A header of maximum length costs one pass over it and no more.
func TestLongProxyChainIsReadOnce(t *testing.T) {
	known, _ := parseProxies("10.0.0.0/8")
	request := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{
		"X-Forwarded-For": {"198.51.100.1" + strings.Repeat(",10.0.0.1", 3000)}}}
	if got := known.client(request).String(); got != "198.51.100.1" {
		t.Errorf("the caller is %s", got)
	}
	if allocations := testing.AllocsPerRun(10, func() { known.client(request) }); allocations > 0 {
		t.Errorf("%g allocations", allocations)
	}
}

func TestProxiesAreAddressesOrNetworks(t *testing.T) {
	for _, wrong := range []string{"proxy.example", "10.0.0.0/33", "10.0.0.1,,10.0.0.2", "10.0.0.1 10.0.0.2", "fe80::1%eth0", ","} {
		if got, err := parseProxies(wrong); err == nil {
			t.Errorf("%q was read as %s", wrong, got)
		}
	}
	got, err := parseProxies("10.0.0.7,192.168.5.0/16")
	if err != nil || got.String() != "10.0.0.7/32,192.168.0.0/16" {
		t.Errorf("got %s, %v", got, err)
	}
}
