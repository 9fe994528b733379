package contract

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// maxRunNumber limits the numbers of a run; it is more than any book has
// accounts.
const maxRunNumber = 1_000_000_000

// runTable declares the request that starts a run.
var runTable = rules.NewTable("RunRequest", "Starts a run that creates a supplier's staged accounts in the background.",
	rules.Required("import_supplier_code", rules.NonEmpty(maxSupplier), supplierDoc),
	rules.Required("operations_team_name", rules.NonEmpty(maxTeamName), "Name of the team that will look after the accounts. The team must exist."),
	rules.Optional("dry_run", rules.Boolean(), dryRunDoc),
	rules.Optional("select", rules.ChoiceOr(selectionTable, selections()...), "Which accounts to process: pending (all staged accounts), failed (the last attempt "+
		"failed) or untried (no recorded failure), or an object that narrows this down. Defaults to pending."),
	rules.Optional("sample", rules.Integer(1, maxRunNumber), "Process every Nth account, in staging order. Defaults to all."),
	rules.Optional("limit", rules.Integer(1, maxRunNumber), "Maximum number of accounts. Defaults to all."),
	rules.Optional("at_once", rules.Integer(1, 10_000), "Maximum number of accounts processed at the same time across all replicas. By default the service decides."),
	rules.Optional("not_before", rules.Datetime(), "Earliest start time. Defaults to now."),
	rules.Optional("not_after", rules.Datetime(), "Time at which the run pauses if it has not finished. Defaults to never."),
)

const (
	// maxListed limits how many accounts a run can be given by number.
	maxListed = 100_000
	// maxCodes is more than there are codes.
	maxCodes = 1_000
)

// selectionTable declares the object that selects accounts.
var selectionTable = rules.NewTable("RunSelection", "Which staged accounts to process. All conditions must hold; at least one is needed.",
	rules.Optional("state", rules.Choice(selections()...), "pending (all staged accounts), failed or untried. Defaults to pending."),
	rules.Optional("delivery", rules.Formatted(landfall.MaxDelivery, deliveryFormat), "Only accounts staged by this delivery: the `Landfall-Delivery` header of the request that staged them last."),
	rules.Optional("accounts", rules.List(1, maxListed, rules.NonEmpty(maxExternal)), "Only these external account numbers. Numbers that are not staged are ignored."),
	rules.Optional("codes", rules.List(1, maxCodes, rules.NonEmpty(maxCodeName)), "Only accounts whose last attempt failed with one of these codes, or with a violation that has one."),
)

// maxCodeName limits a code; the catalogue has shorter ones.
const maxCodeName = 100

// deliveryFormat is the form of the id of a delivery.
var deliveryFormat = &rules.Format{
	Name: "delivery", Code: rules.CodeInvalidCharacters, Detail: "Use up to 64 letters, digits and . _ -.", Pattern: `^[A-Za-z0-9._-]+$`,
	Check: landfall.ValidDelivery,
}

// readSelection reads the selection of a run, in either form.
func readSelection(node *rules.Node, plan *landfall.RunPlan) error {
	plan.Select = landfall.RunSelection(cmp.Or(node.Text(), node.Field("state").Text(), string(landfall.SelectPending)))
	plan.Delivery = node.Field("delivery").Text()
	for _, code := range node.Field("codes").Items() {
		plan.Codes = append(plan.Codes, code.Text())
	}
	listed := map[string]bool{}
	for _, account := range node.Field("accounts").Items() {
		if external := account.Text(); !listed[external] {
			listed[external] = true
			plan.Accounts = append(plan.Accounts, external)
		}
	}
	// An empty object would select everything, which nobody means by it.
	if node.Present() && node.Text() == "" && !node.Field("state").Present() && plan.Delivery == "" && len(plan.Codes) == 0 && len(plan.Accounts) == 0 {
		return &landfall.Error{
			Kind: landfall.Invalid, Code: landfall.CodeValidationFailed, Detail: detailRequest,
			Violations: []landfall.Violation{{Code: rules.CodeRequired, Attr: "select", Detail: "Name a state, a delivery, accounts or codes."}},
		}
	}
	return nil
}

// selections lists which accounts a run may select.
func selections() []string {
	texts := make([]string, len(landfall.RunSelections))
	for i, selection := range landfall.RunSelections {
		texts[i] = string(selection)
	}
	return texts
}

// ReadRun reads the body of a run request. Its error is a *landfall.Error with
// every violation.
func ReadRun(ctx context.Context, body []byte) (landfall.RunPlan, error) {
	document, err := readDocument(ctx, runTable, body)
	if err != nil {
		return landfall.RunPlan{}, err
	}
	root := document.Root()
	plan := landfall.RunPlan{
		Supplier: root.Field("import_supplier_code").Text(), Team: root.Field("operations_team_name").Text(),
		DryRun: root.Field("dry_run").Bool(),
		Sample: int(root.Field("sample").Int()), Limit: int(root.Field("limit").Int()), Concurrency: int(root.Field("at_once").Int()),
		NotBefore: root.Field("not_before").Instant(), NotAfter: root.Field("not_after").Instant(),
	}
	if err := shapeError(document); err != nil {
		return landfall.RunPlan{}, err
	}
	if err := readSelection(root.Field("select"), &plan); err != nil {
		return landfall.RunPlan{}, err
	}
	if !plan.NotAfter.IsZero() && !plan.NotAfter.After(plan.NotBefore) {
		return landfall.RunPlan{}, &landfall.Error{
			Kind: landfall.Invalid, Code: landfall.CodeValidationFailed, Detail: detailRequest,
			Violations: []landfall.Violation{{Code: rules.CodeOutOfRange, Attr: "not_after", Detail: "Must be later than not_before."}},
		}
	}
	return plan, nil
}

// emptyTable is the body of a call that gets everything from its path.
var emptyTable = rules.NewTable("Empty", "An empty object.")

// ReadEmpty reads a body that may be left out. Members are refused, because they
// would be ignored silently.
func ReadEmpty(ctx context.Context, body []byte) error {
	if len(body) == 0 {
		return nil
	}
	document, err := readDocument(ctx, emptyTable, body)
	if err != nil {
		return err
	}
	return shapeError(document)
}

// RunPage selects runs of a supplier.
type RunPage struct {
	Supplier string
	Limit    int    // 0: all
	After    string // id of a run; "": from the newest
}

// ReadRunPage reads the query of a list of runs.
func ReadRunPage(raw string) (RunPage, error) {
	query := ReadQuery(raw)
	page := RunPage{Limit: query.Int("limit", 1, maxPage), Supplier: query.Text("import_supplier_code"), After: query.run("after")}
	return page, query.Err()
}

// Text reads a required parameter.
func (q *Query) Text(name string) string {
	text, given := q.take(name)
	if !given || text == "" {
		q.refuse(name, rules.CodeRequired, "This parameter is required.")
	}
	return text
}

// run reads the id of a run; "" if it is not given.
func (q *Query) run(name string) string {
	text, given := q.take(name)
	if given && !landfall.ValidRunID(text) {
		q.refuse(name, CodeInvalidCursor, "Use the cursor from the Link header of an earlier response.")
	}
	return text
}

// appendScaled writes an integer with a decimal point: 12345 with three decimals
// is 12.345.
func appendScaled(dst []byte, number int64, decimals int) []byte {
	digits := strconv.FormatInt(number, 10)
	for len(digits) <= decimals {
		digits = "0" + digits
	}
	return append(append(append(dst, digits[:len(digits)-decimals]...), '.'), digits[len(digits)-decimals:]...)
}

// nullableTime is a timeMember whose schema allows null.
func nullableTime[T any](name, doc string, get func(T) time.Time) bodyMember[T] {
	return timeMember(name, doc, get).withSchema(nullableTimeSchema)
}
