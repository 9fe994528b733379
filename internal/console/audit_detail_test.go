package console

import (
	"testing"

	"landfall"
)

// The audit shows settings in words, before and after. What people typed stays.
func TestAuditWords(t *testing.T) {
	for _, one := range []struct{ action, detail, want string }{
		{"supplier.set", `name="Acme, \"new\"" (was "Acme (old)"), verify_documents=true (was false)`, `Name: Acme (old) → Acme, "new" · Verify documents: no → yes`},
		{"supplier.set", "rule invalid_postcode=default (was error), packs=a@1 b@1 (was default)", "Rule “Invalid postcode”: error → default · Packs: default → a@1 b@1"},
		{"run.start", `EAST, team="Night Team", select=pending, dry_run=false`, "EAST · Team: Night Team · Select: All staged accounts · Dry run: no"},
		{"account.skip", "it says a=b, and more", "it says a=b, and more"},
		{"session.refuse", "wrong name or password, or too many attempts", "wrong name or password, or too many attempts"},
		{"operator.create", "role=support, by shell:bob", "Role: support · by bob via command line"},
		{"key.create", `organisation="`, `Organisation: "`},
		{"supplier.set", "", ""},
	} {
		if got := auditWords(landfall.AuditEntry{Action: one.action, Detail: one.detail}); got != one.want {
			t.Errorf("%s %s is written as %s, want %s", one.action, one.detail, got, one.want)
		}
	}
	if got, want := string(detailLinks("<b> run R-32HPT5V8")), `&lt;b&gt; run <a href="/console/runs/R-32HPT5V8/">R-32HPT5V8</a>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBrowserNames(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                 "Firefox on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":    "Edge on Windows",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36":                            "Chrome on Linux",
		"Go-http-client/1.1": "Go-http-client/1.1",
	} {
		if got := browserName(agent); got != want {
			t.Errorf("%s is %s, want %s", agent, got, want)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for number, want := range map[int64]int64{1: 2, 2: 2, 9: 10, 10: 10, 11: 12, 101: 120, 2058: 2200} {
		if got := roundUp(number); got != want || got < number || got%2 != 0 {
			t.Errorf("roundUp(%d) is %d, want %d", number, got, want)
		}
	}
}
