package app_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
)

// bulkKinds lists the path suffixes of the calls that have a bulk form.
var bulkKinds = []string{
	"validate-account", "account-import-process/create-or-update", "account-import-process/process", "notes/create",
	"transactions/create", "historical-statements/create", "payment-instruction/create",
}

// post sends a body and returns the status and the response body.
func (w *world) post(t *testing.T, path, media string, body io.Reader) (int, string) {
	t.Helper()
	return w.stream(t, path, media, body, func(string) {})
}

// stream sends a body and passes every line of the answer to hear as it
// arrives.
func (w *world) stream(t *testing.T, path, media string, body io.Reader, receive func(line string)) (status int, heard string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+"/v1/data-import/"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	request.Header.Set("Authorization", "Token "+w.words["token"])
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var all strings.Builder
	for lines := bufio.NewReader(answer.Body); ; {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		receive(line)
		if errors.Is(err, io.EOF) {
			return answer.StatusCode, all.String()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// sendLines sends lines and returns the answers and the summary.
func (w *world) sendLines(t *testing.T, kind, query string, lines []string) (answers []string, summary string) {
	t.Helper()
	status, body := w.post(t, "bulk/"+kind+"/"+query, "application/x-ndjson", strings.NewReader(strings.Join(lines, "\n")))
	all := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if status != http.StatusOK || !strings.HasPrefix(all[len(all)-1], `{"summary":`) {
		t.Fatalf("%s: %d %.2000s", kind, status, body)
	}
	return all[:len(all)-1], all[len(all)-1]
}

// inconstant matches what differs between two worlds: account numbers and times.
var inconstant = regexp.MustCompile(`A-[0-9A-Z]{8}|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// Each line is answered byte for byte like the corresponding single call, for
// valid and invalid lines of every kind.
func TestLinesAreAnsweredAsSingleCalls(t *testing.T) {
	const accounts, lines = 40, 160
	onBoth(t, func(t *testing.T, database string) {
		one := newWorld(t, database, nil)
		other := newWorld(t, databases[strings.Split(database, ":")[0]](t), nil)
		writer := &bodyGenerator{rand.New(rand.NewPCG(1, 2)), accounts}
		for round, kind := range append(bulkKinds, bulkKinds[1:]...) {
			bodies := make([]string, lines)
			for i := range bodies {
				bodies[i] = writer.body(kind, i)
			}
			query := []string{"", "?include_warnings=true", "?include_warnings=perhaps"}[round%3]
			answers, summary := other.sendLines(t, kind, query, bodies)
			if len(answers) != lines {
				t.Fatalf("%s: %d answers to %d lines; %s", kind, len(answers), lines, summary)
			}
			statuses := map[int]int{}
			for i, body := range bodies {
				status, alone := one.post(t, kind+"/"+query, "application/json", strings.NewReader(body))
				statuses[status]++
				want := inconstant.ReplaceAllString(fmt.Sprintf(`{"line":%d,"status":%d,"body":%s}`, i+1, status, alone), "…")
				if got := inconstant.ReplaceAllString(answers[i], "…"); got != want {
					t.Errorf("%s %s\nalone   %s\nin bulk %s", kind, body, want, got)
				}
			}
			t.Log(kind, query, statuses)
			received, _ := json.Marshal(statuses)
			if want := fmt.Sprintf(`{"summary":{"lines":%d,"statuses":%s,"complete":true}}`, lines, received); summary != want {
				t.Errorf("%s: got %s, want %s", kind, summary, want)
			}
		}
	})
}

// bodyGenerator generates bodies, some of them with mistakes.
type bodyGenerator struct {
	*rand.Rand
	accounts int
}

func (s *bodyGenerator) body(kind string, _ int) string {
	about := fmt.Sprintf(`"external_account_number":"%d"`, s.IntN(s.accounts))
	if s.IntN(30) == 0 {
		about = `"external_account_number":"nobody"`
	}
	supplier := s.pick(`"import_supplier":"NORTH"`, 20, `"import_supplier":"SOUTH"`, `"import_supplier":5`, `"import_supplier":""`)
	var rest string
	switch kind {
	case "validate-account", "account-import-process/create-or-update":
		rest = s.pick(fmt.Sprintf(`"customers":[{"family_name":"Löw-%d","landline":"020 7946 0018"}]`, s.IntN(3)), 4,
			`"customers":[{"landline":"12"}]`, `"customers":[]`, `"shoe_size":43`, `"billing_name":"Ada\u00df","customers":[{}]`)
	case "account-import-process/process":
		supplier = strings.Replace(supplier, "import_supplier", "import_supplier_code", 1)
		rest = s.pick(`"operations_team_name":"Migration Team"`, 4, `"operations_team_name":"Nobody"`,
			`"operations_team_name":"Migration Team","dry_run":true`, `"dry_run":"yes"`)
	case "notes/create":
		rest = s.pick(fmt.Sprintf(`"notes":[{"body":"note %d","created_at":"2024-02-01T09:30:00Z"},{"body":"twin","created_at":"2024-02-01T09:30:00Z"}]`, s.IntN(5)), 5,
			`"notes":[{}]`, `"notes":{}`, `"notes":[{"body":"x","created_at":"yesterday"}]`)
	case "transactions/create":
		rest = s.pick(fmt.Sprintf(`"transactions":[{"transaction_id":"T-%d","transaction_date":"2024-02-01","amount":%d.5,"type":"PAYMENT"}]`, s.IntN(6), s.IntN(3)), 5,
			`"transactions":[{"transaction_id":"T","transaction_date":"2024-02-01","amount":-1,"type":"PAYMENT"}]`, `"transactions":[5]`,
			`"transactions":[{"transaction_id":"W","transaction_date":"2024-02-01","amount":10,"type":"SUPPLY_CHARGE","product_code":"X","line_items":[{"start_date":"2024-01-01","end_date":"2024-01-31","number_of_units":10,"net_amount":11,"rate_band":"DAY","price_per_unit":2}]}]`)
	case "historical-statements/create":
		rest = s.pick(fmt.Sprintf(`"statements":[{"statement_id":"S-%d","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-01-31","gross_amount":%d}]`, s.IntN(4), s.IntN(2)), 5,
			`"statements":[{"statement_id":"S","bill_period_from_date":"2024-02-01","bill_period_to_date":"2024-01-31"}]`, `"statements":5`)
	case "payment-instruction/create":
		rest = s.pick(fmt.Sprintf(`"vendor":"SANDBOX","reference":"pm_%d","type":"CARD"`, s.IntN(3)), 5,
			`"vendor":"SANDBOX","reference":"not-found","type":"CARD"`, `"vendor":"NONE","reference":"x","type":"CARD"`, `"vendor":"SANDBOX","type":"GIFT"`)
	}
	body := "{" + strings.Join([]string{supplier, about, rest}, ",") + "}"
	switch s.IntN(24) {
	case 0:
		return body[:s.IntN(len(body)-1)+1]
	case 1:
		return strings.Replace(body, "{", `{"external_account_number":"twice",`, 1)
	case 2:
		return " \t" + strings.ReplaceAll(body, ",", " , ") + " "
	case 3:
		return strings.Replace(body, "external_account", `external\u005faccount`, 1)
	case 4:
		return body + "\xff"
	}
	return body
}

// pick returns the usual value, and one time in often one of the others.
func (s *bodyGenerator) pick(usual string, often int, others ...string) string {
	if s.IntN(often) > 0 {
		return usual
	}
	return others[s.IntN(len(others))]
}

// Lines of one account take effect in their order.
func TestLinesOfAnAccountKeepTheirOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		const accounts, revisions = 5, 60
		var lines []string
		for revision := range revisions {
			for account := range accounts {
				lines = append(lines, fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":"%d","customers":[{"family_name":"%d"}]}`, account, revision))
			}
		}
		answers, _ := w.sendLines(t, "account-import-process/create-or-update", "", lines)
		for i, answer := range answers {
			want := `"status":200`
			if i < accounts {
				want = `"status":201`
			}
			if !strings.Contains(answer, want) {
				t.Errorf("line %d: %s", i+1, answer)
			}
		}
		err := w.application.Store().View(t.Context(), func(view landfall.View) error {
			for account := range accounts {
				history, err := view.Revisions(t.Context(), landfall.Key{Supplier: "NORTH", External: fmt.Sprint(account)})
				if err != nil || len(history) != revisions {
					t.Errorf("account %d has %d revisions, %v", account, len(history), err)
				}
				for i, one := range history {
					if !bytes.Contains(one.Document, fmt.Appendf(nil, `"family_name":"%d"`, i)) {
						t.Errorf("revision %d of account %d is %s", i+1, account, one.Document)
					}
					if want := fmt.Sprintf("/%d", i*accounts+account+1); !strings.HasSuffix(one.By.RequestID, want) {
						t.Errorf("revision %d of account %d is of request %q, want …%s", i+1, account, one.By.RequestID, want)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Creations wait for a slot where single calls are told to retry. Several
// concurrent bulk requests leave exactly one account of each.
func TestLinesWaitForSlots(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, func(settings *app.Settings) { settings.ConcurrencyLimit = 2 })
		var stagings, creations []string
		for i := range 100 {
			stagings = append(stagings, fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}]}`, i))
			creations = append(creations, fmt.Sprintf(`{"import_supplier_code":"NORTH","external_account_number":"%d","operations_team_name":"Migration Team"}`, i))
		}
		w.sendLines(t, "account-import-process/create-or-update", "", stagings)
		var group sync.WaitGroup
		var mutex sync.Mutex
		created := 0
		for range 2 {
			group.Go(func() {
				answers, summary := w.sendLines(t, "account-import-process/process", "", creations)
				mutex.Lock()
				defer mutex.Unlock()
				created += strings.Count(strings.Join(answers, ""), `"status":201`)
				if strings.Contains(summary, `"429"`) || strings.Contains(summary, `"503"`) || !strings.Contains(summary, `"complete":true`) {
					t.Errorf("got %s", summary)
				}
			})
		}
		group.Wait()
		if created != len(creations) {
			t.Errorf("%d accounts were created", created)
		}
	})
}

// A quota of bytes per day ends a stream; one of requests per second slows it
// down.
func TestQuotasOfStreams(t *testing.T) {
	w := newWorld(t, databases["sqlite"](t), nil)
	line := `{"import_supplier":"NORTH","external_account_number":"1","customers":[{}]}`
	w.operate(t, "quota Acme requests_per_second 50")
	began := time.Now()
	answers, summary := w.sendLines(t, "validate-account", "", slices.Repeat([]string{line}, 100))
	if len(answers) != 100 || time.Since(began) < 900*time.Millisecond || !strings.Contains(summary, `"complete":true`) {
		t.Errorf("after %s %d answers and %s", time.Since(began), len(answers), summary)
	}
	w.operate(t, "quota Acme requests_per_second 0")
	w.operate(t, "quota Acme bytes_per_day 1000000")
	answers, summary = w.sendLines(t, "validate-account", "", slices.Repeat([]string{line}, 50_000))
	if !strings.Contains(summary, `"complete":false`) || !strings.Contains(summary, `"quota":"bytes_per_day"`) ||
		!strings.Contains(summary, fmt.Sprintf(`"next_line":%d,`, len(answers)+1)) || len(answers) > 1000000/len(line) {
		t.Errorf("%d answers and %s", len(answers), summary)
	}
}
