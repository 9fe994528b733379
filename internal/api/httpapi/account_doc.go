package httpapi

import (
	"net/http"
	"slices"

	"landfall/internal/api/contract"
)

var wholeAccountDoc = &operationDoc{
	id: "getAccount", tag: tagAccounts, summary: "Get one whole account",
	description: "The account's record, exactly as it was accepted, and what the service holds now: balance, ledger, notes, statements " +
		"and payment instructions. Needs an API key with the role `reader`. Every read is recorded in the audit.",
	responses: []responseDoc{
		{http.StatusOK, "The account.", responseContent(contract.WholeAccountBody), nil},
		{http.StatusNotFound, "No account was created for this supplier code and external account number.", errorContent(exampleNoAccount), nil},
	},
}

var wholeAccountsDoc = &operationDoc{
	id: "streamAccounts", tag: tagAccounts, summary: "Stream whole accounts of a supplier",
	description: "Every created account of a supplier as `getAccount` returns it, one on each line. Line breaks in `data` are written as spaces. " +
		"Sorted by first staging time, then by external account number. Without `limit` all accounts are streamed. If the stream cannot be " +
		"completed, the connection is aborted, so an incomplete one never looks complete. Needs an API key with the role `reader`. Every " +
		"request is recorded in the audit with the number of accounts that were sent. To read only what changes later, send the cursor of " +
		"`Landfall-Cursor` as `changed_since` next time; if you read in pages, that of the first page.",
	query: append(slices.Clone(paging), parameter{
		name: "changed_since",
		description: "Cursor of the event feed. Only accounts that have events after it are sent: accounts that were created, or to which " +
			"something was added. Accounts that were undone since are not in the stream; the feed has their events.",
		schema: object{{"type", "string"}},
	}, parameter{
		name:        "fingerprint",
		description: "`false` leaves the fingerprints out, which makes the stream faster.",
		schema:      object{{"type", "boolean"}, {"default", true}},
	}, parameter{
		name: "reason", description: "Why you read the accounts, for the audit: one line of at most 200 characters.",
		schema: object{{"type", "string"}, {"maxLength", 200}}, example: "monthly copy for the data team",
	}),
	responses: []responseDoc{
		{http.StatusOK, "The accounts.", &mediaContent{schema: "WholeAccountLines", example: onOneLine(contract.WholeAccountBody.Example()) + "\n", media: typeLines[0]},
			[]string{"Link", cursorHeader}},
		{http.StatusBadRequest, "A query parameter is invalid.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}
