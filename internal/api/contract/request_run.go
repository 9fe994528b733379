package contract

import (
	"context"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// maxRunNumber bounds the numbers of a run: more than any book has.
const maxRunNumber = 1_000_000_000

// runTable asks for a run.
var runTable = rules.NewTable("RunRequest", "Asks the service to create a supplier's staged accounts by itself.",
	rules.Required("import_supplier_code", rules.NonEmpty(maxSupplier), "The import supplier's code."),
	rules.Required("operations_team_name", rules.NonEmpty(maxTeamName), "The team that will look after the accounts; it must exist."),
	rules.Optional("dry_run", rules.Boolean(), "Does everything and takes it back; nothing is created."),
	rules.Optional("select", rules.Choice(selections()...), "Which accounts: pending ones (all that are staged), failed ones (whose last attempt "+
		"failed), or untried ones (without a failure on record); pending when left out."),
	rules.Optional("sample", rules.Integer(1, maxRunNumber), "Every so manieth of them, in the order of staging; all when left out."),
	rules.Optional("limit", rules.Integer(1, maxRunNumber), "At most so many accounts; all when left out."),
	rules.Optional("at_once", rules.Integer(1, 10_000), "Accounts created side by side, over all replicas; left to the service when left out."),
	rules.Optional("not_before", rules.Datetime(), "When the run may start; at once when left out."),
	rules.Optional("not_after", rules.Datetime(), "When the run pauses if it has not ended; never when left out."),
)

// selections lists what a run may choose from, for the table.
func selections() []string {
	texts := make([]string, len(landfall.RunSelections))
	for i, selection := range landfall.RunSelections {
		texts[i] = string(selection)
	}
	return texts
}

// ReadRun reads the body that asks for a run. Its error is a *landfall.Error
// with every violation.
func ReadRun(ctx context.Context, body []byte) (landfall.RunPlan, error) {
	document, err := readDocument(ctx, runTable, body)
	if err != nil {
		return landfall.RunPlan{}, err
	}
	root := document.Root()
	plan := landfall.RunPlan{
		Supplier: root.Field("import_supplier_code").Text(), Team: root.Field("operations_team_name").Text(),
		DryRun: root.Field("dry_run").Bool(), Select: landfall.RunSelection(root.Field("select").Text()),
		Sample: int(root.Field("sample").Int()), Limit: int(root.Field("limit").Int()), Concurrency: int(root.Field("at_once").Int()),
		NotBefore: root.Field("not_before").Instant(), NotAfter: root.Field("not_after").Instant(),
	}
	if plan.Select == "" {
		plan.Select = landfall.SelectPending
	}
	if err := shapeError(document); err != nil {
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

// emptyTable is the body of a call that is told everything by its path.
var emptyTable = rules.NewTable("Nothing", "Nothing.")

// ReadEmpty reads a body that may be left out. What stands in it would be
// dropped in silence, so it is refused.
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

// RunPage says which runs of whom are wanted.
type RunPage struct {
	Supplier string
	Limit    int    // 0: all
	After    string // the id of a run; "": from the newest
}

// ReadRunPage reads the raw query of a list of runs.
func ReadRunPage(raw string) (RunPage, error) {
	query := ReadQuery(raw)
	page := RunPage{Limit: query.Int("limit", 1, maxPage), Supplier: query.Text("import_supplier_code"), After: query.run("after")}
	return page, query.Err()
}

// Text reads a parameter that must be given.
func (q *Query) Text(name string) string {
	text, given := q.take(name)
	if !given || text == "" {
		q.refuse(name, rules.CodeRequired, "This parameter is required.")
	}
	return text
}

// run reads the id of a run; "" when it is not given.
func (q *Query) run(name string) string {
	text, given := q.take(name)
	if given && !landfall.ValidRunID(text) {
		q.refuse(name, CodeInvalidCursor, "Take the cursor from the Link header of an earlier answer.")
	}
	return text
}

// appendScaled writes a whole number as one with decimals: 12345 with three of
// them is 12.345.
func appendScaled(dst []byte, number int64, decimals int) []byte {
	digits := strconv.FormatInt(number, 10)
	for len(digits) <= decimals {
		digits = "0" + digits
	}
	return append(append(append(dst, digits[:len(digits)-decimals]...), '.'), digits[len(digits)-decimals:]...)
}

// nullableTime is happens for a time that may be none.
func nullableTime[T any](name, doc string, get func(T) time.Time) member[T] {
	return timeMember(name, doc, get).withSchema(map[string]any{"type": []string{"string", "null"}, "format": "date-time"})
}
