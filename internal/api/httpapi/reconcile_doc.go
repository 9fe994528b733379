package httpapi

import (
	"net/http"

	"landfall"
	"landfall/internal/api/contract"
)

var setTotalsDoc = &operation{
	id: "setControlTotals", tag: tagProof, summary: "Say what the source has",
	description: "Control totals are what the old system's own books come to: counts, and for each currency balances and " +
		"transactions. Every field is optional; what is left out is not compared. The newest count, and earlier ones are kept. " +
		"The same totals sent again change nothing.",
	request: requestContent("ControlTotals", contract.ExampleControlTotals),
	responses: []response{
		{http.StatusOK, "They count from now on.", responseContent(contract.ControlTotalsBody), nil},
		{http.StatusBadRequest, "A total is not what it should be.", errorContent(exampleNegativeTotal), nil},
		{http.StatusNotFound, "There is no such import supplier.", errorContent(exampleNoSupplier), nil},
	},
}

var totalsDoc = &operation{
	id: "controlTotals", tag: tagProof, summary: "What the source says it has",
	description: "The control totals that count now, with who set them and when.",
	responses: []response{
		{http.StatusOK, "The totals.", responseContent(contract.ControlTotalsBody), nil},
		{http.StatusNotFound, "There is no such import supplier, or nobody set totals of it (`control_totals_not_set`).",
			errorContent(exampleNoSupplier), nil},
	},
}

var reconciliationDoc = &operation{
	id: "reconciliation", tag: tagProof, summary: "Did everything arrive?",
	description: "For each measure what the source claims, what was sent and what exists, and on which accounts the difference " +
		"rests. All of it is true as of one moment, also while accounts are being created. What exists is read from the ledgers " +
		"and the other rows of the accounts. With `measure` and `reason` the answer is instead the list of accounts behind that " +
		"figure: those that are pending or skipped in the order of first staging, the others by external account number.",
	query: append([]parameter{
		{
			name: "measure", description: "Lists the accounts behind a figure of this measure; `reason` belongs to it.",
			schema: object{{"type", "string"}}, example: "balances.GBP",
		},
		{
			name: "reason", description: "Which of the figures in `explained` is meant.",
			schema: object{{"type", "string"}, {"enum", landfall.Reasons}}, example: "pending",
		},
	}, paging...),
	responses: []response{
		{http.StatusOK, "The comparison or, with `measure` and `reason`, the list.", responseContent(contract.ReconciliationOrBehind), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is not what it should be.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "There is no such import supplier.", errorContent(exampleNoSupplier), nil},
	},
}
