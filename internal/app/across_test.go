package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Two servers stage and create two accounts with one supply point at the same moment.
// Where the rule is a warning nobody waits for the other, yet the later one is warned,
// and the pair is listed.
func TestServersWarnOfASharedSupplyPoint(t *testing.T) {
	first := newWorld(t, databases["postgres"](t), nil)
	second := &world{database: first.database, settings: first.settings, log: first.log, words: first.words, shut: func() {}}
	t.Cleanup(func() { second.shut() })
	if err := second.open(t); err != nil {
		t.Fatal(err)
	}
	servers := []*world{first, second}
	send := func(server *world, method, path, body string, read any) {
		request, err := http.NewRequestWithContext(t.Context(), method, server.server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Authorization", "Token "+first.words["token"])
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Error(err)
			return
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode > http.StatusCreated || json.Unmarshal(text, read) != nil {
			t.Errorf("%s: %d %s %v", path, response.StatusCode, text, err)
		}
	}
	const rounds = 20
	for round := range rounds {
		for _, step := range []struct{ path, body string }{
			{stagePath + "?include_warnings=true", `{"import_supplier":"NORTH","external_account_number":"%[1]d-%[2]d","customers":[{}],
				"supply_addresses":[{"supply_points":[{"identifier":"point-%[1]d","supply_type":"GAS","supply_start_date":"2020-01-01"}]}]}`},
			{"/v1/data-import/account-import-process/process/?include_warnings=true",
				`{"import_supplier_code":"NORTH","external_account_number":"%[1]d-%[2]d","operations_team_name":"Migration Team"}`},
		} {
			var warned [2]int
			var both sync.WaitGroup
			for i, server := range servers {
				both.Go(func() {
					var read struct{ Warnings []struct{ Code string } }
					send(server, http.MethodPost, step.path, fmt.Sprintf(step.body, round, i), &read)
					for _, warning := range read.Warnings {
						if warning.Code == "supply_point_on_another_account" {
							warned[i]++
						}
					}
				})
			}
			both.Wait()
			if warned[0]+warned[1] == 0 {
				t.Errorf("round %d: nobody was warned by %s", round, step.path)
			}
		}
	}
	var pairs []struct {
		First string `json:"external_account_number"`
		Other string `json:"other_external_account_number"`
	}
	send(second, http.MethodGet, "/v1/data-import/duplicate-accounts/NORTH/", "", &pairs)
	listed := map[string]bool{}
	for _, pair := range pairs {
		round, _, _ := strings.Cut(pair.First, "-")
		if other, _, _ := strings.Cut(pair.Other, "-"); other == round && pair.First != pair.Other {
			listed[round] = true
		}
	}
	if len(listed) != rounds || len(pairs) != rounds {
		t.Errorf("%d pairs are listed, of %d rounds: %v", len(pairs), len(listed), pairs)
	}
}
