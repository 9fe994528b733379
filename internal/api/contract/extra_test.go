package contract_test

import (
	"bytes"
	"testing"

	"landfall/internal/api/contract"
)

// A line of NDJSON with a line break in it would be two broken lines.
func TestATransactionIsWrittenOnOneLine(t *testing.T) {
	request, err := contract.ReadTransactions(t.Context(), []byte(`{"import_supplier":"S","external_account_number":"1","transactions":[
		{"transaction_id":"T","transaction_date":"2024-01-01","amount":1,"type":"SUPPLY_CHARGE","product_code":"P",
		 "line_items":[
			{"rate_band":"R",
			 "start_date":"2024-01-01","end_date":"2024-01-02","number_of_units":1,"net_amount":1}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if written := contract.AppendTransaction(nil, request.Transactions()[0]); bytes.ContainsAny(written, "\r\n") {
		t.Errorf("%s", written)
	}
}
