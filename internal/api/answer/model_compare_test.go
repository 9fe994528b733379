package answer_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"landfall"
	"landfall/internal/api/answer"
)

// forget removes a process that has no data left.
func (m *model) forget(external string) {
	delete(m.processes, external)
	m.order = slices.DeleteFunc(m.order, func(other string) bool { return other == external })
}

// compare checks everything that can be read against the maps.
func (m *model) compare(r failer) {
	for _, external := range externals {
		m.compareStatus(r, external, m.processes[external])
	}
	m.compareLists(r)
	m.compareFailures(r)
	m.compareTallies(r)
	m.compareReconciliation(r)
}

// read decodes a verb's answer about the supplier.
func (m *model) read(r failer, verb *answer.Verb, into any) {
	told := m.ask(r, verb, answer.Call{Path: [2]string{m.code}})
	if err := json.Unmarshal(told.body, into); err != nil || told.Status != http.StatusOK {
		r.Fatalf("%s: %d %s %v", verb.Path, told.Status, told.body, err)
	}
}

// shown is the detailed status.
type shown struct {
	Status   string `json:"status"`
	Number   string `json:"platform_account_number"`
	State    string `json:"state"`
	Revision int    `json:"revision"`
	Failure  *struct {
		Code   string `json:"code"`
		DryRun bool   `json:"dry_run"`
	} `json:"last_failure"`
	Balance  string `json:"balance"`
	Currency string `json:"currency"`
	Notes    int64  `json:"notes"`
	Bills    int64  `json:"statements"`
	Undone   []struct {
		Number string `json:"platform_account_number"`
	} `json:"undone_accounts"`
}

func (m *model) compareStatus(r failer, external string, known *modelled) {
	call := answer.Call{Path: [2]string{m.code, external}, Query: "detail=true"}
	told := m.ask(r, answer.Status, call)
	if known == nil {
		m.expect(r, "status", told, http.StatusNotFound, landfall.CodeAccountNotFound)
		return
	}
	var got shown
	if err := json.Unmarshal(told.body, &got); err != nil {
		r.Fatal(err)
	}
	want := shown{Status: "UNKNOWN", State: "STAGED", Revision: len(known.staged)}
	for _, number := range known.undone {
		want.Undone = append(want.Undone, struct {
			Number string `json:"platform_account_number"`
		}{number})
	}
	if known.failure != nil {
		want.State = "FAILED"
		if got.Failure == nil || got.Failure.Code != known.failure.code || got.Failure.DryRun != (known.failure.at == "DRY_RUN") {
			r.Fatalf("%s: failure %s, want %+v", external, told.body, known.failure)
		}
		want.Failure = got.Failure
	}
	if known.skipped {
		want.State = "SKIPPED"
	}
	if account := known.account; account != nil {
		want.Status, want.State, want.Number = "COMPLETED", "IMPORTED", account.number
		want.Balance, want.Currency = account.figures.Balance.String(), account.figures.Currency
		want.Notes, want.Bills = account.figures.Notes, account.figures.Statements
	}
	if !reflect.DeepEqual(got, want) {
		r.Fatalf("%s: status %s\nwant %+v", external, told.body, want)
	}
}

// listed is a row of a list.
type listed struct {
	External string  `json:"external_account_number"`
	Number   *string `json:"platform_account_number"`
}

func (m *model) compareLists(r failer) {
	var pending, imported, all []string
	for _, external := range m.order {
		switch known := m.processes[external]; {
		case known.skipped:
		case known.account != nil:
			imported = append(imported, external+" "+known.account.number)
			all = append(all, external+" "+known.account.number)
		default:
			pending = append(pending, external+" ")
			all = append(all, external+" ")
		}
	}
	for verb, want := range map[*answer.Verb][]string{answer.All: all, answer.Pending: pending, answer.Imported: imported} {
		var entries []listed
		m.read(r, verb, &entries)
		var got []string
		for _, entry := range entries {
			number := ""
			if entry.Number != nil {
				number = *entry.Number
			}
			got = append(got, entry.External+" "+number)
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%s: %q, want %q", verb.Path, got, want)
		}
	}
}

func (m *model) compareFailures(r failer) {
	newest := maps.Clone(m.refusals)
	for external, known := range m.processes {
		if known.failure != nil && known.failure.clock > newest[external].clock {
			newest[external] = *known.failure
		}
		if known.skipped || known.account != nil {
			delete(newest, external)
		}
	}
	var want []string
	accounts, groups := len(newest), map[string]int{}
	for _, failure := range newest {
		groups[failure.code]++
	}
	for _, known := range m.processes {
		if known.account != nil && len(known.account.refused) > 0 {
			accounts++
			groups[landfall.CodeSupplierNotOngoing]++
		}
	}
	names := maps.Clone(newest)
	for external := range m.processes {
		names[external] = newest[external]
	}
	for _, external := range slices.Sorted(maps.Keys(names)) {
		if failure, failed := newest[external]; failed {
			want = append(want, external+" "+failure.at+" "+failure.code)
		}
		for _, kind := range landfall.PostingKinds {
			if known := m.processes[external]; known != nil && known.account != nil && known.account.refused[kind] {
				want = append(want, external+" "+string(kind)+" "+landfall.CodeSupplierNotOngoing)
			}
		}
	}
	var failed []struct {
		External string `json:"external_account_number"`
		At       string `json:"at"`
		Code     string `json:"code"`
	}
	m.read(r, answer.Failed, &failed)
	var got []string
	for _, one := range failed {
		got = append(got, one.External+" "+one.At+" "+one.Code)
	}
	if !slices.Equal(got, want) {
		r.Fatalf("failures %q, want %q", got, want)
	}
	var summary struct {
		Accounts int `json:"accounts"`
		Groups   []struct {
			Code     string `json:"code"`
			Accounts int    `json:"accounts"`
			Alone    int    `json:"alone"`
		} `json:"groups"`
		Repairs []struct {
			Percent  int `json:"percent"`
			Accounts int `json:"accounts"`
		} `json:"repairs"`
	}
	m.read(r, answer.Summary, &summary)
	if summary.Accounts != accounts || len(summary.Groups) != len(groups) {
		r.Fatalf("the summary is %+v, want %d accounts in %v", summary, accounts, groups)
	}
	for _, group := range summary.Groups {
		// The violation in a broken document has its own code; each account has
		// one.
		if code := cmp.Or(map[string]string{"max_decimal_places": landfall.CodeAccountFailedValidation}[group.Code], group.Code); groups[code] != group.Accounts || group.Alone != group.Accounts {
			r.Fatalf("group %+v, want %v", group, groups)
		}
	}
	for _, repair := range summary.Repairs {
		if repair.Accounts*100 < repair.Percent*len(newest) {
			r.Fatalf("repair %+v of %d accounts", repair, len(newest))
		}
	}
}

// tallied computes the totals of the supplier's accounts from the maps.
func (m *model) tallied() landfall.Tallies {
	var sums landfall.Tallies
	for _, known := range m.processes {
		switch {
		case known.account != nil:
			sums.Of(landfall.StatusCreated, known.account.figures.Currency).Add(known.account.figures)
		case known.skipped && len(known.staged) == 0:
			sums.Of(landfall.StatusUnstaged, "").Add(landfall.Figures{Accounts: 1})
		case known.skipped:
			sums.Of(landfall.StatusSkipped, known.current().figures.Currency).Add(known.current().figures)
		case known.failure != nil:
			sums.Of(landfall.StatusFailed, known.current().figures.Currency).Add(known.current().figures)
		default:
			sums.Of(landfall.StatusPending, known.current().figures.Currency).Add(known.current().figures)
		}
	}
	for external := range m.refusals {
		if m.processes[external] == nil {
			sums.Refused++
		}
	}
	return sums
}

func (m *model) compareTallies(r failer) {
	want := m.tallied()
	err := m.store.View(m.ctx, func(view landfall.View) error {
		for name, count := range map[string]func() (landfall.Tallies, error){
			"tallies": func() (landfall.Tallies, error) { return view.Tallies(m.ctx, m.code) },
			"recount": func() (landfall.Tallies, error) { return view.Recount(m.ctx, m.code) },
		} {
			got, err := count()
			if err != nil {
				return err
			}
			if differences := got.Differences(&want); len(differences) > 0 || got.Refused != want.Refused {
				return fmt.Errorf("%s: %q, %d refused, want %d", name, differences, got.Refused, want.Refused)
			}
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}
