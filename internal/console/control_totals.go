package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
)

// totalsPage is the form for control totals that people enter by hand.
type totalsPage struct {
	pageHead
	Code    string
	Fields  []totalsField
	History []landfall.ControlTotals // newest first
}

// totalsField is one measure of the form, with what is claimed now.
type totalsField struct {
	Measure, Label, Count, Amount string
	HasCount, HasAmount           bool
}

// maxShownTotals is how many earlier control totals the page lists.
const maxShownTotals = 50

func showTotals(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	facts, err := r.operator().ShowSupplier(r.Context(), code)
	if err != nil {
		return nil, err
	}
	result, err := r.operator().Reconcile(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page := totalsPage{pageHead: supplierHead(code, code+": control totals", "reconciliation"), Code: code}
	page.Breadcrumbs = append(page.Breadcrumbs, breadcrumb{"Reconciliation", consolePath("suppliers", code, "reconciliation")})
	currencies := map[string]bool{facts.Currency: true}
	for _, row := range result.Rows {
		if row.Measure.Currency == "" {
			page.Fields = append(page.Fields, newTotalsField(row.Measure, row.Claimed))
		} else {
			currencies[row.Measure.Currency] = true
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(currencies)) {
		measures := []landfall.Measure{{Kind: landfall.MeasureBalances, Currency: currency}}
		for _, kind := range landfall.TransactionTypes {
			measures = append(measures, landfall.Measure{Kind: landfall.MeasureTransactions, Currency: currency, Type: kind})
		}
		for _, measure := range measures {
			row, _ := result.Row(measure) // none: nothing is claimed
			page.Fields = append(page.Fields, newTotalsField(measure, row.Claimed))
		}
	}
	page.History, err = r.operator().ControlTotalsHistory(r.Context(), code)
	page.History = page.History[:min(len(page.History), maxShownTotals)]
	return page, err
}

func newTotalsField(measure landfall.Measure, claimed landfall.Value) totalsField {
	field := totalsField{
		Measure: measure.String(), Label: measureLabel(measure),
		HasCount: measure.Kind != landfall.MeasureBalances, HasAmount: measure.Currency != "",
	}
	if claimed.Count != nil {
		field.Count = claimed.Count.Digits()
	}
	if claimed.Amount != nil {
		field.Amount = claimed.Amount.String()
	}
	return field
}

// setTotals reads the form as the document that the API would receive, so that both
// have the same rules.
func setTotals(r *pageRequest) error {
	document := map[string]any{}
	currencies := map[string]map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(r.form)) {
		what, measureName, _ := strings.Cut(name, ":")
		measure, known := landfall.ParseMeasure(measureName)
		text := strings.NewReplacer(",", "", " ", "").Replace(r.formValue(name))
		if !known || text == "" {
			continue
		}
		value := any(text)
		if what == "count" {
			if strings.Trim(text, "0123456789") != "" {
				return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("%s: %q is not a whole number.", measureLabel(measure), r.formValue(name)))
			}
			value = json.Number(text)
		}
		if measure.Currency == "" {
			document[measureName] = value
			continue
		}
		in := currencies[measure.Currency]
		if in == nil {
			in = map[string]any{"currency": measure.Currency, "transactions": map[landfall.TransactionType]map[string]any{}}
			currencies[measure.Currency] = in
		}
		if measure.Kind == landfall.MeasureBalances {
			in["balances"] = value
			continue
		}
		types := in["transactions"].(map[landfall.TransactionType]map[string]any) //nolint:forcetypeassert // made above
		if types[measure.Type] == nil {
			types[measure.Type] = map[string]any{"type": measure.Type}
		}
		types[measure.Type][what] = value
	}
	list := []any{}
	for _, in := range currencies {
		in["transactions"] = slices.Collect(maps.Values(in["transactions"].(map[landfall.TransactionType]map[string]any))) //nolint:forcetypeassert // made above
		list = append(list, in)
	}
	document["currencies"] = list
	body, err := json.Marshal(document)
	if err != nil {
		return landfall.Refuse(landfall.CodeValidationFailed, "A number has too many digits.")
	}
	totals, err := contract.ReadControlTotals(r.Context(), body)
	if err != nil {
		return err
	}
	if len(totals.Claims) == 0 {
		return landfall.Refuse(landfall.CodeValidationFailed, "Enter at least one figure.")
	}
	return r.operator().SetControlTotals(r.Context(), r.PathValue("supplier"), totals)
}
