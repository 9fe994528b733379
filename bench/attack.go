package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// attackers is how many connections one organisation attacks another from.
const attackers = 24

// attack is what a caller with a good key may send as often as it likes.
type attack struct {
	name string
	path string
	body string
}

// attacks are within all limits, and made to cost as much as they can.
func attacks() []attack {
	const account = `{"import_supplier":"EVIL","external_account_number":"EVIL-1",`
	return []attack{
		{"encoded paths", "/v1/data-import/validate-account/", account + `"customers":[{}],"notes":[{"body":"x","document_paths":[` +
			repeat(1000, `{"document_path":"`+strings.Repeat("%%25", 330)+`2e%d"}`) + `]}]}`},
		{"notes with many paths", "/v1/data-import/notes/create/", account + `"notes":[` +
			repeat(1000, `{"document_paths":[`+strings.ReplaceAll(repeat(100, `{"document_path":"§/%d"}`), "§", "%[1]d")+`]}`) + `]}`},
		{"long bodies", "/v1/data-import/transactions/create/", account + `"transactions":[` +
			repeat(10_000, `{"transaction_id":"T%d","transaction_date":"2026-01-01","amount":1,"type":"PAYMENT","note":"`+strings.Repeat("n", 700)+`"}`) + `]}`},
		{"repeated ids", "/v1/data-import/transactions/create/?check_previously_added=false", account +
			`"transactions":[{"transaction_id":"S","transaction_date":"2026-01-01","amount":1,"type":"PAYMENT"}]}`},
	}
}

// repeat writes a JSON item again and again, each time with its number.
func repeat(count int, item string) string {
	items := make([]string, count)
	for i := range items {
		items[i] = fmt.Sprintf(item, i)
	}
	return strings.Join(items, ",")
}

// measureAttack compares what an organisation gets while another one attacks
// with what it gets alone, and gives the worst of all attacks.
func measureAttack(database func(context.Context, *machinery) (string, error)) func(context.Context, plan, *machinery) (result, error) {
	return func(ctx context.Context, p plan, m *machinery) (result, error) {
		address, err := database(ctx, m)
		if err != nil {
			return result{}, err
		}
		s, err := m.start(ctx, address)
		if err != nil {
			return result{}, err
		}
		defer s.stop()
		evil, err := m.attacker(ctx, s, address)
		if err != nil {
			return result{}, err
		}
		numbers := &counter{}
		neighbour := s.load(stagePath, numbers.account)
		neighbour.connections = attackers
		worst := result{ratio: 1e9}
		for _, attack := range attacks() {
			ratio, ours, raw, err := alternate(1, func() (sample, error) {
				attacked, stop := context.WithCancel(ctx)
				var group sync.WaitGroup
				for range attackers {
					group.Go(func() { attack.repeat(attacked, s.address, evil) })
				}
				defer group.Wait()
				defer stop()
				time.Sleep(time.Second) // until it is in full swing
				return neighbour.run(ctx, p.length)
			}, func() (sample, error) { return neighbour.run(ctx, p.length) })
			if err != nil {
				return result{}, fmt.Errorf("%s: %w", attack.name, err)
			}
			if ratio < worst.ratio {
				worst = result{ratio: ratio, ours: ours.of("staged beside " + attack.name), raw: raw.of("staged alone")}
			}
		}
		return worst, nil
	}
}

// attacker makes an organisation of its own with one account, and gives its token.
func (m *machinery) attacker(ctx context.Context, s *service, database string) (string, error) {
	for _, words := range [][]string{
		{"organisation", "create", "Evil"}, {"supplier", "create", "EVIL"}, {"supplier", "grant", "EVIL", "Evil"},
	} {
		if _, err := m.tell(ctx, append(words, "--database", database)...); err != nil {
			return "", err
		}
	}
	key, err := m.tell(ctx, "key", "create", "Evil", "--database", database)
	if err != nil {
		return "", err
	}
	token, err := obtainToken(s.address, strings.TrimSpace(key))
	if err != nil {
		return "", err
	}
	for _, step := range []attack{
		{path: stagePath, body: `{"import_supplier":"EVIL","external_account_number":"EVIL-1","customers":[{"family_name":"Evil"}]}`},
		{path: processPath, body: `{"import_supplier_code":"EVIL","external_account_number":"EVIL-1","operations_team_name":"Bench Team"}`},
	} {
		if status := step.send(ctx, s.address, token); status != http.StatusCreated {
			return "", fmt.Errorf("%s was answered %d", step.path, status)
		}
	}
	return token, nil
}

// repeat sends an attack over and over. Who is refused comes back soon, since
// an attacker does as he likes.
func (a attack) repeat(ctx context.Context, address, token string) {
	for ctx.Err() == nil {
		if a.send(ctx, address, token) >= http.StatusTooManyRequests {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// send sends it once and gives the status, 0 when there was no answer.
func (a attack) send(ctx context.Context, address, token string) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+a.path, strings.NewReader(a.body))
	if err != nil {
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Token "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode
}
