package httpapi

import (
	"net/http"

	"landfall"
	"landfall/internal/api/contract"
)

var setTotalsDoc = &operationDoc{
	id: "setControlTotals", tag: tagProof, summary: "Set the control totals of a supplier",
	description: "Control totals come from the source system: counts and, for each currency, balances and " +
		"transactions. Every field is optional; totals you leave out are not compared. The latest totals apply, and earlier ones are kept. " +
		"Sending the same totals again changes nothing.",
	request: requestContent("ControlTotals", contract.ExampleControlTotals),
	responses: []responseDoc{
		{http.StatusOK, "The totals that apply from now on.", responseContent(contract.ControlTotalsBody), nil},
		{http.StatusBadRequest, "A total is invalid.", errorContent(exampleNegativeTotal), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}

var totalsDoc = &operationDoc{
	id: "controlTotals", tag: tagProof, summary: "Get the control totals of a supplier",
	description: "The current control totals, with who set them and when. With `history`, a list of all that were set, newest first; at most 1,000.",
	query: []parameter{{
		name: "history", description: "Lists earlier totals as well.", schema: object{{"type", "boolean"}, {"default", false}}, example: true,
	}},
	responses: []responseDoc{
		{http.StatusOK, "The totals or, with `history`, a list.", responseContent(contract.TotalsOrHistory), nil},
		{http.StatusBadRequest, "A query parameter is invalid.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "The import supplier does not exist, or its control totals have not been set (`control_totals_not_set`).",
			errorContent(exampleNoSupplier), nil},
	},
}

var signOffsDoc = &operationDoc{
	id: "signOffs", tag: tagProof, summary: "List the signed-off reconciliations of a supplier",
	description: "Newest first. An operator signs a reconciliation off when every difference is explained. The report is kept unchanged; " +
		"compare the copy you were given with its hash.",
	responses: []responseDoc{
		{http.StatusOK, "The list.", responseContent(contract.SignOffsBody), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}

var reconciliationDoc = &operationDoc{
	id: "reconciliation", tag: tagProof, summary: "Reconcile a supplier",
	description: "Compares, for each measure, what the source system claims with what was sent and what exists, and explains the difference by " +
		"account. All figures are from the same point in time, even while accounts are being created. What exists is read from the ledgers " +
		"and other records of the accounts. With `measure` and `reason`, the response is the list of accounts that make up that " +
		"figure: pending or skipped accounts in order of first staging, all others by external account number.",
	query: append([]parameter{
		{
			name: "measure", description: "Lists the accounts that make up a figure of this measure. Requires `reason`.",
			schema: object{{"type", "string"}}, example: "balances.GBP",
		},
		{
			name: "reason", description: "The figure in `explained` whose accounts are listed. Requires `measure`.",
			schema: object{{"type", "string"}, {"enum", landfall.Reasons}}, example: "pending",
		},
	}, paging...),
	responses: []responseDoc{
		{http.StatusOK, "The comparison or, with `measure` and `reason`, the list of accounts.", responseContent(contract.ReconciliationOrBehind), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is invalid.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}
