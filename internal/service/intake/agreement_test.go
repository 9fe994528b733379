package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
)

// pieces lists members that an account may have. Some are valid, some break a
// rule, some are refused by the file store, a vendor or the ledger.
var pieces = map[string][]string{
	"customers": {`[{}]`, `[{"family_name":"Byron","email":"ada@northmail.co.uk"},{}]`, `[]`,
		`[{"metadata":[{"key":"a","value":1},{"key":"a","value":2}]}]`, `[{"consents":[{"type":"X","value":"ACCEPTED"},{"type":"X","value":"PENDING"}]}]`},
	"unknown_occupier":            {`true`, `false`},
	"company_number":              {`"12"`},
	"account_type":                {`"BUSINESS"`, `"DOMESTIC"`},
	"currency":                    {`"GBP"`, `"EUR"`},
	"billing_email":               {`"a@example.com"`, `"a@northmail.co.uk"`},
	"billing_postcode":            {`"CA3 8RN"`, `"nowhere"`},
	"last_billed_to_date":         {`"2025-02-28"`},
	"last_statement_closing_date": {`"2025-01-31"`, `"2025-03-31"`, `"2099-01-01"`},
	"last_statement_issue_date":   {`"2025-02-01"`, `"2025-04-01"`},
	"last_statement_balance":      {`-10`, `0`, `"12.34"`},
	"transfer_balance":            {`-10`, `40`, `"12.34"`},
	"references":                  {`[{"namespace":"n","value":"v"}]`, `[{"namespace":"n","value":"v"},{"namespace":"n","value":"v"}]`},
	"historical_statement_transactions": {`[{"transaction_id":"H","transaction_date":"2025-01-15","amount":10,"type":"CHARGE","reason":"X"}]`,
		`[{"transaction_id":"H","transaction_date":"2025-03-15","amount":10,"type":"CREDIT","reason":"X"}]`},
	"current_statement_transactions": {`[{"transaction_id":"C","transaction_date":"2025-04-15","amount":50,"type":"PAYMENT"}]`,
		`[{"transaction_id":"H","transaction_date":"2025-01-20","amount":1,"type":"CHARGE","reason":"X"},{"transaction_id":"H","transaction_date":"2025-04-20","amount":1,"type":"CHARGE","reason":"X"}]`},
	"statements": {`[{"statement_id":"1","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-01-31","statement_path":"good.pdf"}]`,
		`[{"statement_id":"1","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-01-31","statement_path":"missing.pdf"}]`,
		`[{"statement_id":"1","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-01-31"},{"statement_id":"1","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-01-31"}]`,
		`[{"statement_id":"1","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-01-31"},{"statement_id":"1","bill_period_from_date":"2025-01-02","bill_period_to_date":"2025-01-31"}]`},
	"notes": {`[{"body":"a"},{"body":"a"}]`, `[{}]`, `[{},{}]`, `[{"body":"a","created_at":"2025-01-02T00:00:00Z","unpin_at":"2025-01-01T00:00:00Z"}]`,
		`[{"document_paths":[{"document_path":"missing.pdf"}]}]`},
	"payment_instructions": {`[{"vendor":"V","reference":"good","type":"CARD"},{"vendor":"V","reference":"good","type":"CARD"}]`,
		`[{"vendor":"V","reference":"bad","type":"CARD"}]`, `[{"vendor":"W","reference":"good","type":"CARD"}]`},
	"payment_schedules": {`[{"start_date":"2025-01-01","trigger":"REGULAR"}]`,
		`[{"start_date":"2025-01-01","trigger":"BALANCE","balance_threshold":5},{"start_date":"2025-02-01","trigger":"BALANCE","balance_threshold":5}]`},
	"supply_addresses": {`[{"supply_points":[{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01"}]}]`,
		`[{"supply_points":[{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01"},{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01"}]}]`,
		`[{"supply_points":[{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01","agreements":[{"product_code":"A","effective_from":"2020-01-01"},{"product_code":"B","effective_from":"2021-01-01"}]}]}]`},
}

// generate builds a random account.
func generate(random *rand.Rand, names []string, external string) []byte {
	account := map[string]json.RawMessage{
		"import_supplier": json.RawMessage(`"S"`), "external_account_number": json.RawMessage(`"` + external + `"`),
		"customers": json.RawMessage(`[{}]`),
	}
	for range random.IntN(5) {
		name := names[random.IntN(len(names))]
		account[name] = json.RawMessage(pieces[name][random.IntN(len(pieces[name]))])
	}
	body, _ := json.Marshal(account)
	return body
}

// A dry run must predict the result of the real run for every account. The
// accounts are staged with all rules off, so that accounts that break a rule get
// this far. Then the rules are either at their defaults or still off; in the
// latter case the databases have to cope with any input.
func TestDryRunMatchesTheRealRun(t *testing.T) {
	accounts := 3000
	if testing.Short() {
		accounts = 300
	}
	off := map[string]landfall.Severity{}
	for _, rule := range contract.RuleBook() {
		off[rule.Code] = landfall.SeverityOff
	}
	names := slices.Sorted(maps.Keys(pieces))
	test := func(t *testing.T, g *fixture, accounts int, severities map[string]landfall.Severity) {
		g.files.missing = "missing"
		g.vendor.answer = func(_ context.Context, instruction landfall.Instruction) error {
			if instruction.Reference == "bad" {
				return landfall.RefuseField("reference", landfall.CodeInstructionNotFound, "None.")
			}
			return nil
		}
		g.supplierIs(func(s *landfall.Supplier) { s.Severities, s.VerifyDocuments = off, true })
		const workers = 24
		inParallel := func(run func(external string, random *rand.Rand)) {
			race(workers, func(worker int) {
				for i := worker; i < accounts; i += workers {
					run(fmt.Sprint(i), rand.New(rand.NewPCG(7, uint64(i))))
				}
			})
		}
		inParallel(func(external string, random *rand.Rand) {
			body := generate(random, names, external)
			if _, err := g.Stage(t.Context(), ours, body); err != nil {
				t.Errorf("staging %s: %s", body, describe(err))
			}
		})
		g.supplierIs(func(s *landfall.Supplier) { s.Severities = severities })
		var said tally
		inParallel(func(external string, random *rand.Rand) {
			foretold := resultOf(g.process(external, true))
			happened := resultOf(g.process(external, false))
			if foretold != happened {
				t.Errorf("foretold %s, happened %s: %s", foretold, happened, generate(random, names, external))
			}
			said.add(happened)
		})
		good, bad := said.counts["imports"], accounts-said.counts["imports"]
		if good < accounts/10 || bad < accounts/10 || len(said.counts) < 5 {
			t.Errorf("a poor sample: %d good and %d bad ones, %d different answers", good, bad, len(said.counts))
		}
		if rows := g.rows(); rows["account"] != good || rows["event"] != 2*accounts {
			t.Errorf("%d good ones, rows %v", good, rows)
		}
	}
	t.Run("with the rules", func(t *testing.T) { test(t, onSQLite(t), accounts, nil) })
	t.Run("without", func(t *testing.T) {
		onBoth(t, func(t *testing.T, g *fixture) { test(t, g, accounts/10, off) })
	})
}

// resultOf describes the result of an attempt: the account imports, or everything
// that is wrong with it.
func resultOf(_ Created, err error) string {
	if err == nil || errors.Is(err, errDryRun) {
		return "imports"
	}
	if known, is := errors.AsType[*landfall.Error](err); is {
		return fmt.Sprint(known.Kind, known.Code, known.Detail, known.Violations)
	}
	return err.Error()
}
