package crashtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/crashtest"
)

const imports = "/v1/data-import"

// request sends one HTTP request.
func (f *fleet) request(method, base, path string, body []byte) (status int, answer []byte, err error) {
	return f.requestFor("", method, base, path, body)
}

// requestFor sends a request that names a delivery.
func (f *fleet) requestFor(delivery, method, base, path string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequest(method, base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if delivery != "" {
		request.Header.Set("Landfall-Delivery", delivery)
	}
	if f.token != "" {
		request.Header.Set("Authorization", "Token "+f.token)
	}
	response, err := f.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// logIn asks the first server for a token.
func (f *fleet) logIn(key string) (status int, answer []byte, err error) {
	query := fmt.Sprintf(`{"query":"mutation { obtainServiceToken(input: {apiKey: \"%s\"}) { token } }"}`, key)
	return f.request(http.MethodPost, f.replicas[0].address(), "/v1/graphql/", []byte(query))
}

func (f *fleet) obtainToken(key string) string {
	f.t.Helper()
	status, answer, err := f.logIn(key)
	var result struct {
		Data struct {
			Obtained struct {
				Token string `json:"token"`
			} `json:"obtainServiceToken"`
		} `json:"data"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &result) != nil || result.Data.Obtained.Token == "" {
		f.t.Fatalf("no token: %d %s %v", status, answer, err)
	}
	return result.Data.Obtained.Token
}

// caller sends intents and records everything that happens.
type caller struct {
	*fleet
	history  *crashtest.History
	ruthless bool         // also kill operators' commands
	longest  atomic.Int64 // duration of the slowest response
}

// slowest returns the duration of the slowest response.
func (c *caller) slowest() time.Duration { return time.Duration(c.longest.Load()) }

// waited records the duration of a response.
func (c *caller) waited(began time.Time) {
	took := int64(time.Since(began))
	for longest := c.longest.Load(); took > longest && !c.longest.CompareAndSwap(longest, took); {
		longest = c.longest.Load()
	}
}

// send sends one intent to one replica. An error is one of the transport: there
// was no response, and the intent stays open in the history.
func (c *caller) send(base string, intent crashtest.Intent) (crashtest.Answer, error) {
	if intent.Verb == crashtest.Skip || intent.Verb == crashtest.Unskip || intent.Verb == crashtest.Undo {
		return c.mark(intent)
	}
	path, body := wire(intent)
	entry := c.history.Begin(intent)
	defer c.waited(time.Now())
	status, text, err := c.requestFor(intent.Delivery, http.MethodPost, base, path, body)
	if err != nil {
		return crashtest.Answer{}, err
	}
	answer := parseAnswer(c.t, intent, status, text)
	c.history.End(entry, answer)
	return answer, nil
}

// expected lists the refusals that a correct caller can get while others work
// on the same accounts and servers restart.
var expected = map[crashtest.Verb][]string{
	crashtest.Stage: {
		landfall.CodeAlreadyImported, landfall.CodeImportInProgress, landfall.CodeMarkedAsSkipped, landfall.CodeAccountFailedValidation,
	},
	crashtest.Process: {
		landfall.CodeProcessUnknown, landfall.CodeAlreadyImported, landfall.CodeImportInProgress, landfall.CodeConcurrencyLimit,
		landfall.CodeMarkedAsSkipped, landfall.CodeInstructionNotFound,
	},
	crashtest.DryRun: {
		landfall.CodeProcessUnknown, landfall.CodeAlreadyImported, landfall.CodeImportInProgress, landfall.CodeDryRunRolledBack,
		landfall.CodeMarkedAsSkipped, landfall.CodeInstructionNotFound,
	},
	crashtest.PostNotes:        {landfall.CodeAccountNotFound},
	crashtest.PostStatements:   {landfall.CodeAccountNotFound},
	crashtest.PostInstruction:  {landfall.CodeAccountNotFound},
	crashtest.PostTransactions: {landfall.CodeAccountNotFound, landfall.CodeOutsideOpenPeriod},
}

// parseAnswer parses a response and reports one that makes no sense.
func parseAnswer(t *testing.T, intent crashtest.Intent, status int, text []byte) crashtest.Answer {
	var body struct {
		Code    string `json:"code"`
		Number  string `json:"platform_account_number"`
		Results []struct {
			Status string `json:"status"`
		} `json:"results"`
	}
	var err error
	if intent.Verb == crashtest.PostNotes && status == http.StatusCreated {
		err = json.Unmarshal(text, &body.Results)
	} else {
		err = json.Unmarshal(text, &body)
	}
	if err != nil {
		t.Errorf("%s was answered %d %q: %v", intent.Verb, status, text, err)
	}
	if body.Code == landfall.CodeAccountFailedValidation && !intent.Broken {
		t.Errorf("%s was answered %d %s", intent.Verb, status, text)
	}
	if status/100 != 2 && status != http.StatusServiceUnavailable && !slices.Contains(expected[intent.Verb], body.Code) {
		t.Errorf("%s was answered %d %s", intent.Verb, status, text)
	}
	answer := crashtest.Answer{Status: status, Code: body.Code, Number: body.Number}
	for _, result := range body.Results {
		switch result.Status {
		case "NOTE_CREATION_SUCCESS", "TRANSACTION_ADDED_TO_ACCOUNT":
			answer.Added = append(answer.Added, true)
		case "NOTE_ALREADY_EXISTS", "TRANSACTION_ALREADY_EXISTS":
			answer.Added = append(answer.Added, false)
		default:
			t.Errorf("%s was answered %s", intent.Verb, text)
		}
	}
	return answer
}

// wire returns the path and the body of an intent.
func wire(intent crashtest.Intent) (path string, body []byte) {
	envelope := map[string]any{"import_supplier": intent.Key.Supplier, "external_account_number": intent.Key.External}
	switch intent.Verb {
	case crashtest.Stage:
		return imports + "/account-import-process/create-or-update/", []byte(intent.Document)
	case crashtest.Process, crashtest.DryRun:
		path = imports + "/account-import-process/process/"
		envelope = map[string]any{
			"import_supplier_code": intent.Key.Supplier, "external_account_number": intent.Key.External,
			"operations_team_name": team, "dry_run": intent.Verb == crashtest.DryRun,
		}
	case crashtest.PostNotes:
		path = imports + "/notes/create/"
		envelope["notes"] = noteItems(intent.Notes)
	case crashtest.PostTransactions:
		path = imports + "/transactions/create/"
		switch {
		case intent.Unchecked:
			path += "?check_previously_added=false"
		case intent.Broken:
			path += "?force_add_to_current_statement=false"
		}
		envelope["transactions"] = transactions(intent.Transactions)
	case crashtest.PostStatements:
		path = imports + "/historical-statements/create/"
		envelope["statements"] = statementItems(intent.Statements)
	case crashtest.PostInstruction:
		path = imports + "/payment-instruction/create/"
		maps.Copy(envelope, instructions(intent.Instructions)[0])
	}
	body, err := json.Marshal(envelope)
	if err != nil {
		panic(err)
	}
	return path, body
}
