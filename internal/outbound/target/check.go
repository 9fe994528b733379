package target

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"

	"landfall"
	"landfall/internal/outbound/delivery"
)

// Finding is the result of one step of a check.
type Finding struct {
	Step string
	OK   bool
	Got  string
}

// Check tries out the protocol on a target with an account that it makes up and
// deletes again. The documents are as the service would send them.
func (s *Sender) Check(ctx context.Context, target landfall.Target, account, notes []byte, report func(Finding)) (passed bool) {
	passed = true
	number := "check-" + rand.Text()
	send := func(method, list, key string, body []byte) Answer {
		return s.exchange(ctx, &target, &delivery.Message{Method: method, URL: address(&target, number, list), ID: key, Body: body})
	}
	expect := func(step string, answer Answer, want ...int) {
		finding := Finding{Step: step, Got: answer.Reason}
		if answer.Status != 0 {
			finding.Got = fmt.Sprint("status ", answer.Status)
		}
		for _, status := range want {
			finding.OK = finding.OK || answer.Status == status
		}
		passed = passed && finding.OK
		report(finding)
	}
	done := []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent}
	again := append(append([]int{}, done...), http.StatusConflict)
	first, second := rand.Text(), rand.Text()
	created := send(http.MethodPut, "", first, account)
	expect("an account is created", created, done...)
	repeated := send(http.MethodPut, "", first, account)
	expect("the same delivery again is done or already there", repeated, again...)
	if created.TargetID != "" && repeated.Status != http.StatusConflict {
		same := repeated.TargetID == created.TargetID
		passed = passed && same
		report(Finding{Step: "the same delivery again has the same target_id", OK: same, Got: repeated.TargetID})
	}
	expect("notes are added", send(http.MethodPost, "notes", second, notes), done...)
	expect("the same notes again are done or already there", send(http.MethodPost, "notes", second, notes), again...)
	expect("a body that is not JSON is refused", send(http.MethodPost, "notes", rand.Text(), []byte("{")), http.StatusBadRequest, http.StatusUnprocessableEntity)
	wrong := s.Client.Send(ctx, &delivery.Message{
		Method: http.MethodPost, URL: address(&target, number, "notes"), ID: rand.Text(), Body: notes, Idempotent: true,
		ContentType: "application/json", Agent: "Landfall-Target/1", Secret: []byte("not the secret"),
	})
	expect("a wrong signature is refused", Answer{Outcome: wrong}, http.StatusUnauthorized, http.StatusForbidden)
	if target.TakesBack {
		expect("the account is deleted", send(http.MethodDelete, "", "delete-"+rand.Text(), nil), done...)
		expect("deleting what is not there is 404 or done", send(http.MethodDelete, "", "delete-"+rand.Text(), nil),
			append(done, http.StatusNotFound, http.StatusGone)...)
		expect("the account can be created again with a new key", send(http.MethodPut, "", rand.Text(), account), done...)
		expect("and deleted again", send(http.MethodDelete, "", "delete-"+rand.Text(), nil), done...)
	}
	return passed
}

// CheckNotes is a body with one note.
func CheckNotes(number string) []byte {
	body, _ := json.Marshal(map[string]any{ //nolint:errchkjson // it can always be written
		"platform_account_number": number, "notes": []any{map[string]any{"body": "a note", "document_paths": []any{}, "is_pinned": false}},
	})
	return body
}
