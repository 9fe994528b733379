package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"
)

const (
	// attackers is the number of connections of an attack.
	attackers = 24
	// listed is the number of accounts in the attacker's lists: more than the
	// buffers between a slow reader and the server hold.
	listed = 20_000
)

// attacker is an organisation with valid keys that attacks.
type attacker struct {
	address string
	key     string
	token   string
	vendor  *httptest.Server // sends odd responses
}

// attackKind is what one connection does until it is told to stop.
type attackKind struct {
	name string
	run  func(ctx context.Context, number int)
	// quota is the attacker's quota per second; 0 means none.
	quota int
}

// attacks stay within all limits and cost as much as possible.
func (e *attacker) attacks() []attackKind {
	const account = `{"import_supplier":"EVIL","external_account_number":"EVIL-1",`
	// Bodies are prepared once and sent repeatedly. Otherwise the cost of the
	// attacker would be measured.
	again := func(path, body string) func(context.Context, int) {
		return func(ctx context.Context, _ int) { e.repeat(ctx, path, func() string { return body }) }
	}
	const transactions = "/v1/data-import/transactions/create/"
	// Each is expensive in another way, and no limit forbids it.
	return []attackKind{
		{name: "notes with many paths", run: again("/v1/data-import/notes/create/", account+`"notes":[`+
			repeat(1000, `{"document_paths":[`+strings.ReplaceAll(repeat(100, `{"document_path":"§/%d"}`), "§", "%[1]d")+`]}`)+`]}`)},
		{name: "encoded paths", run: again("/v1/data-import/validate-account/", account+`"customers":[{}],"notes":[`+
			repeat(30, `{"body":"%d","document_paths":[`+strings.Repeat(`{"document_path":"`+"%%"+strings.Repeat("25", 500)+`2e"},`, 99)+`{"document_path":"x"}]}`)+`]}`)},
		{name: "long bodies", run: again(transactions, account+`"transactions":[`+
			repeat(10_000, `{"transaction_id":"T%d","transaction_date":"2026-01-01","amount":1,"type":"PAYMENT","note":"`+strings.Repeat("n", 700)+`"}`)+`]}`)},
		{name: "bodies of many values", run: again("/v1/data-import/validate-account/", account+`"customers":[`+repeat(100_000, `{"metadata":[%d]}`)+`]}`)},
		{name: "slow lists", run: e.readSlowly},
		{name: "repeated ids", run: func(ctx context.Context, number int) {
			// Half of them add the same ID again, the others ask whether it
			// exists.
			path := transactions + "?check_previously_added=" + []string{"false", "true"}[number%2]
			e.repeat(ctx, path, func() string {
				return account + `"transactions":[{"transaction_id":"S","transaction_date":"2026-01-01","amount":1,"type":"PAYMENT"}]}`
			})
		}},
		{name: "tokens", run: func(ctx context.Context, _ int) { e.repeat(ctx, "/v1/graphql/", e.login) }},
		{name: "requests over a quota", quota: 100, run: func(ctx context.Context, number int) {
			e.repeat(ctx, "/v1/data-import/validate-account/", func() string { return account + fmt.Sprintf(`"customers":[{}],"x":%d}`, number) })
		}},
		{name: "odd references", run: func(ctx context.Context, number int) {
			count := 0
			e.repeat(ctx, "/v1/data-import/payment-instruction/create/", func() string {
				count++
				return account + fmt.Sprintf(`"vendor":"ODD","reference":"%%2e%%2e-%d-%d","type":"CARD"}`, number, count)
			})
		}},
	}
}

// repeat writes a JSON item repeatedly, each time with its number.
func repeat(count int, item string) string {
	items := make([]string, count)
	for i := range items {
		items[i] = fmt.Sprintf(item, i)
	}
	return strings.Join(items, ",")
}

// attacker creates an organisation with one account and a long list.
func (m *harness) attacker(ctx context.Context, s *service, database string) (*attacker, error) {
	e := &attacker{address: s.address}
	// Half a response about another instruction: the server must validate
	// vendors' responses as strictly as requests.
	e.vendor = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"somebody else's","status":`)
	}))
	if err := os.Setenv("VENDOR_BENCH_KEY", "not-a-secret"); err != nil {
		return nil, err
	}
	for _, words := range [][]string{
		{"organisation", "create", "Evil"}, {"supplier", "create", "EVIL"}, {"supplier", "grant", "EVIL", "Evil"},
		{"vendor", "set", "ODD", "--adapter", "json", "--base-url", e.vendor.URL, "--allow-network", "127.0.0.0/8",
			"--secret-env", "VENDOR_BENCH_KEY", "--setting", "types=CARD"},
	} {
		if _, err := m.tell(ctx, append(words, "--database", database)...); err != nil {
			return nil, err
		}
	}
	// The key comes last, after the organisation is granted its supplier.
	key, err := m.tell(ctx, "key", "create", "Evil", "--database", database)
	if err != nil {
		return nil, err
	}
	e.key = strings.TrimSpace(key)
	if e.token, err = obtainToken(s.address, e.key); err != nil {
		return nil, err
	}
	if status := e.send(ctx, stagePath, evilAccount(1)); status != http.StatusCreated {
		return nil, fmt.Errorf("staging was answered %d", status)
	}
	if status := e.send(ctx, processPath,
		`{"import_supplier_code":"EVIL","external_account_number":"EVIL-1","operations_team_name":"Bench Team"}`); status != http.StatusCreated {
		return nil, fmt.Errorf("creating was answered %d", status)
	}
	// Staged through the API with the attacker's token, so that its list is a
	// real one.
	list := load{address: s.address, connections: connections, most: listed, want: "20",
		next: post(stagePath, e.token, func(n int64, dst []byte) []byte { return append(dst, evilAccount(n+1)...) })}
	_, err = list.run(ctx, 2*time.Minute)
	return e, err
}

// evilAccount is as small as possible, so that the attack costs the attacker
// little.
func evilAccount(n int64) string {
	return fmt.Sprintf(`{"import_supplier":"EVIL","external_account_number":"EVIL-%d","customers":[{"family_name":"Evil"}]}`, n)
}

// leave releases what the attacker holds.
func (e *attacker) leave() { e.vendor.Close() }

// repeat sends a body repeatedly. After a refusal it retries soon, regardless
// of Retry-After.
func (e *attacker) repeat(ctx context.Context, path string, body func() string) {
	for ctx.Err() == nil {
		if e.send(ctx, path, body()) >= http.StatusTooManyRequests {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// send sends a body once and returns the status, or 0 without a response.
func (e *attacker) send(ctx context.Context, path, body string) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+e.address+path, strings.NewReader(body))
	if err != nil {
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Token "+e.token)
	// Use the shared client, which reuses connections: a new connection for
	// each request would attack the kernel instead.
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode
}

// login requests another token.
func (e *attacker) login() string {
	text, _ := json.Marshal(map[string]any{
		"query":     "mutation($key: String) { obtainServiceToken(input: {apiKey: $key}) { token } }",
		"variables": map[string]string{"key": e.key},
	})
	return string(text)
}

// readSlowly requests the whole list and reads it very slowly. When it is cut
// off it starts again.
func (e *attacker) readSlowly(ctx context.Context, _ int) {
	request := []byte("GET /v1/data-import/all-account-import-processes/EVIL/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token " + e.token + "\r\n\r\n")
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", e.address)
		if err != nil {
			return
		}
		// A small window on this side fills the buffers at once.
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, err = io.Copy(conn, bytes.NewReader(request))
		scratch := make([]byte, 512)
		for err == nil && ctx.Err() == nil {
			_, err = conn.Read(scratch)
			time.Sleep(50 * time.Millisecond)
		}
		_ = conn.Close()
	}
}
