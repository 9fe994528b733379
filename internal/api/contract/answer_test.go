package contract

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"landfall"
)

func TestAnswers(t *testing.T) {
	created := time.Date(2024, 6, 15, 13, 0, 0, 999, time.FixedZone("", 3600))
	warnings := []landfall.Violation{{Code: "c", Attr: "a.0", Detail: "d"}}
	cases := []struct{ name, got, want string }{
		{"plain error", string(ErrorBody.Append(nil, &landfall.Error{Code: "not_found", Detail: `No "such" <thing>.`, Cause: errors.New("secret")})),
			`{"detail":"No \"such\" \u003cthing\u003e.","code":"not_found","errors":[]}`},
		{"error with everything", string(ErrorBody.Append(nil, &landfall.Error{Code: "c", Detail: "d", Violations: append(warnings, warnings...),
			Members: []landfall.Member{{Name: "platform_account_number", Value: "A-1"}, {Name: "n", Value: []int{1}}, {Name: "bad", Value: func() {}}}})),
			`{"detail":"d","code":"c","errors":[{"detail":"d","code":"c","attr":"a.0"},{"detail":"d","code":"c","attr":"a.0"}],"platform_account_number":"A-1","n":[1],"bad":null}`},
		{"staged", string(StagedBody.Append(nil, Staged{Key: landfall.Key{Supplier: "S", External: "a\nb"}})), `{"import_supplier":"S","external_account_number":"a\nb"}`},
		{"status", string(StatusBody.Append(nil, TransferStatus{Status: "UNKNOWN"})), `{"status":"UNKNOWN","platform_account_number":""}`},
		{"created", string(CreatedBody.Append(nil, Created{External: "1", Number: "A-1"})), `{"platform_account_number":"A-1","external_account_number":"1"}`},
		{"pending entry", string(ProcessBody.Append(nil, landfall.ProcessEntry{External: "1"})), `{"external_account_number":"1","platform_account_number":null,"account_created_at":null}`},
		{"imported entry", string(ProcessBody.Append(nil, landfall.ProcessEntry{External: "1", AccountNumber: "A-1", AccountCreatedAt: created})),
			`{"external_account_number":"1","platform_account_number":"A-1","account_created_at":"2024-06-15T12:00:00Z"}`},
		{"warnings", string(StatementsBody.Append(nil, Echo{Body: []byte("{\"a\":1} \n"), IncludeWarnings: true, Warnings: warnings})), `{"a":1,"warnings":[{"detail":"d","code":"c","attr":"a.0"}]}`},
		{"no warnings", string(StatementsBody.Append(nil, Echo{Body: []byte(`{"a":{}}`), IncludeWarnings: true})), `{"a":{},"warnings":[]}`},
		{"added", string(StatementsBody.Append(nil, Echo{Body: []byte(`{"a":{}}`), IncludeAdded: true})), `{"a":{},"added":0}`},
		{"added, with warnings", string(StatementsBody.Append(nil, Echo{Body: []byte(`{"a":{}}`), IncludeAdded: true, Added: 12, IncludeWarnings: true})), `{"a":{},"added":12,"warnings":[]}`},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, c.got, c.want)
		}
		if !json.Valid([]byte(c.got)) {
			t.Errorf("%s is not JSON", c.name)
		}
	}
}

func TestEntriesAllocateNothing(t *testing.T) {
	entry := landfall.ProcessEntry{External: "EXT-1", AccountNumber: "A-1", AccountCreatedAt: testNow}
	buffer := make([]byte, 0, 256)
	if allocations := testing.AllocsPerRun(100, func() { buffer = ProcessBody.Append(buffer[:0], entry) }); allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}
